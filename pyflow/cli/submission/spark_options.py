"""Options of spark-submit that a user gives beside those of ``pyflow run``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyflow.cli.submission.errors import SubmissionError

# Options that pyflow run sets or extends, and the settings of Spark that they stand for.
_SETTINGS = {
    "--master": "spark.master",
    "--name": "spark.app.name",
    "--deploy-mode": "spark.submit.deployMode",
    "--jars": "spark.jars",
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--py-files": "spark.submit.pyFiles",
    "--archives": "spark.archives",
}
# Those that a command line is written with, as a reader expects them.
_WRITTEN = ("--master", "--deploy-mode", "--name", "--jars", "--py-files", "--archives")
# Options without a value.
_FLAGS = ("--verbose", "-v", "--supervise", "--help", "-h", "--version", "--usage-error")


def as_options(settings: Mapping[str, str]) -> list[str]:
    """Return the options of spark-submit that set settings of Spark."""
    written = {_SETTINGS[option]: option for option in _WRITTEN}
    found = []
    for key, value in settings.items():
        found += [written[key], value] if key in written else ["--conf", f"{key}={value}"]
    return found


@dataclass
class SparkOptions:
    """Options of spark-submit, taken apart.

    Parameters
    ----------
    settings : dict
        Settings of Spark, of ``--conf`` and of the options that stand for one.
    others : list of str
        The other options with their values.
    properties_file : str, optional
    """

    settings: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    properties_file: str | None = None

    @classmethod
    def of(cls, words: Sequence[str]) -> SparkOptions:
        """Take apart the words of a command line.

        Raises
        ------
        SubmissionError
            If an option has no value, or a word is none.
        """
        found = cls()
        rest = iter(words)
        for word in rest:
            if not word.startswith("-"):
                raise SubmissionError(
                    f"{word!r} is no option of spark-submit; arguments of the program stand "
                    "before `--`"
                )
            option, is_joined, value = word.partition("=")
            if option in _FLAGS:
                found.others.append(word)
                continue
            if not is_joined:
                try:
                    value = next(rest)
                except StopIteration:
                    raise SubmissionError(f"spark-submit's option {word} has no value") from None
            found._take(option, value)
        return found

    def _take(self, option: str, value: str) -> None:
        if option in ("-c", "--conf"):
            name, has_value, value = value.partition("=")
            if not has_value:
                raise SubmissionError(f"spark-submit's --conf takes key=value, not {name!r}")
            self.settings[name] = value
        elif option in _SETTINGS:
            self.settings[_SETTINGS[option]] = value
        else:
            if option == "--properties-file":
                self.properties_file = value
            self.others += [option, value]
