"""What requests say in their bodies, by Flink's names where it has them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from pyflow.cli.service.jobs import Request

#: A module's name.
MODULE = r"^[\w.]+$"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Run(_Body):
    """How a program is run."""

    module: str | None = Field(default=None, alias="entryModule", pattern=MODULE)
    arguments: list[str] = Field(default=[], alias="programArgsList")
    settings: dict[str, str | int | float | bool] = Field(
        default={}, alias="flinkConfiguration", description="Settings by Flink's names or Spark's."
    )
    parallelism: int | None = Field(default=None, ge=1)
    savepoint: str | None = Field(default=None, alias="savepointPath")
    skips_state: bool = Field(default=False, alias="allowNonRestoredState")
    target: str | None = Field(default=None, description="As that of pyflow run -t.")
    files: list[str] = Field(default=[], alias="pyFiles", description="Artifacts for import.")
    archives: list[str] = Field(default=[], alias="pyArchives", description="Artifacts.")
    requirements: str | None = Field(
        default=None, alias="pyRequirements", description="An artifact."
    )
    jars: list[str] = Field(default=[], description="Artifacts.")

    def request(self, artifact: str) -> Request:
        """Return what is asked for."""
        settings = {key: _text(value) for key, value in self.settings.items()}
        if self.parallelism is not None:
            settings["parallelism.default"] = str(self.parallelism)
        if self.savepoint is not None:
            settings["execution.savepoint.path"] = self.savepoint
        if self.skips_state:
            settings["execution.savepoint.ignore-unclaimed-state"] = "true"
        return Request(
            artifact,
            self.module,
            self.arguments,
            settings,
            self.target,
            self.files,
            self.archives,
            self.jars,
            self.requirements,
        )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Stop(_Body):
    """Where a job that is stopped leaves its savepoint."""

    directory: str | None = Field(default=None, alias="targetDirectory")


class Savepoint(_Body):
    """Where a savepoint is made."""

    directory: str | None = Field(default=None, alias="target-directory")
    cancel_job: bool = Field(default=False, alias="cancel-job")
