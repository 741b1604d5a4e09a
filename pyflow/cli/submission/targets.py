"""Where programs run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyflow.cli.submission.errors import SubmissionError

#: The setting of Spark by which an application gets its tags.
YARN_TAGS = "spark.yarn.tags"
#: Variables that say where the configuration of a cluster is.
YARN_FOLDERS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")

_MASTERS = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|spark://.+|yarn|k8s://.+")
_KNOWN = "local[N], local-cluster[N,CORES,MB], spark://HOST:PORT, yarn, yarn-application, k8s://URL"
# Flink's names of targets.
_OF_FLINK = {
    "remote": "use spark://HOST:PORT",
    "yarn-session": "use yarn, each program is an application of its own",
    "yarn-per-job": "use yarn, each program is an application of its own",
    "kubernetes-session": "use k8s://URL, the address of the cluster's API server",
    "kubernetes-application": (
        "use k8s://URL, the address of the cluster's API server, and `-- --deploy-mode cluster`"
    ),
}


def yarn_tag(program: str) -> str:
    """Return the tag that the application of a program has on YARN."""
    return f"pyflow-{program}"


@dataclass(frozen=True)
class Target:
    """A cluster, or this machine.

    Parameters
    ----------
    master : str, optional
        Spark's master; None for spark-submit's default.
    deploy_mode : str, optional
        ``client`` or ``cluster``; None for spark-submit's default.
    """

    master: str | None
    deploy_mode: str | None = None

    @classmethod
    def named(cls, name: str) -> Target:
        """Return the target of ``-t``.

        Raises
        ------
        SubmissionError
            If there is none of this name.
        """
        if name == "yarn-application":
            return cls("yarn", "cluster")
        if name in _OF_FLINK:
            raise SubmissionError(f"-t {name}: {_OF_FLINK[name]}")
        if not _MASTERS.fullmatch(name):
            raise SubmissionError(f"-t {name}: there is no such target, only {_KNOWN}")
        return cls("local[*]" if name == "local" else name)

    @property
    def is_local(self) -> bool:
        """Whether functions run in the driver's JVM."""
        return self.master is None or self.master.split("[")[0] == "local"

    @property
    def is_this_machine(self) -> bool:
        """Whether functions run on this machine."""
        return self.is_local or str(self.master).startswith("local-cluster")

    @property
    def is_driven_here(self) -> bool:
        """Whether the program runs on this machine."""
        return self.deploy_mode != "cluster"

    def with_image(self, image: str) -> dict[str, str]:
        """Return the settings of Spark with which executors run in an image of Docker.

        Raises
        ------
        SubmissionError
            If the target has none.
        """
        master = str(self.master)
        if master.startswith("k8s://"):
            return {"spark.kubernetes.container.image": image}
        if master == "yarn":
            variables = {
                "YARN_CONTAINER_RUNTIME_TYPE": "docker",
                "YARN_CONTAINER_RUNTIME_DOCKER_IMAGE": image,
            }
            places = ["spark.executorEnv", "spark.yarn.appMasterEnv"]
            return {f"{place}.{k}": v for place in places for k, v in variables.items()}
        raise SubmissionError(
            "-pyenv docker: images are of Spark on Kubernetes (-t k8s://URL) and YARN (-t yarn); "
            "elsewhere pack the environment: -pyarch env.tar.gz#env -pyexec env/bin/python"
        )
