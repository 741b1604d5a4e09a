"""Fixtures of the row codec's tests: no JVM in this process, so that sanitizers can watch it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pyspark
import pytest
from hypothesis import is_hypothesis_test
from pyspark.sql.types import DataType, StructField, StructType

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import cases
from codec import ROOT, Codec, uninstrumented_environment
from sessions import MODULES

hypothesis.settings.register_profile("codec", deadline=None, max_examples=300)
hypothesis.settings.register_profile("sanitize", deadline=None, max_examples=50)
hypothesis.settings.register_profile(
    "fuzz", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "2000")), database=None
)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-profile") is None:
        hypothesis.settings.load_profile("codec")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.core)
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.generated)
            else:
                item.add_marker(pytest.mark.slice)


@pytest.fixture(scope="session", params=[False, True], ids=["pickled", "arrow"])
def arrow(request: pytest.FixtureRequest) -> bool:
    """Each of the two exchanges."""
    return request.param


@pytest.fixture
def make_codec() -> Iterator[Callable[..., Codec]]:
    """Makes codecs for rows with one column, nullable unless said otherwise."""
    codecs = []

    def make(data_type: DataType, arrow: bool, nullable: bool = True, **options: bool) -> Codec:
        row_type = StructType([StructField("value", data_type, nullable)])
        codecs.append(Codec(row_type, arrow, **options))
        return codecs[-1]

    yield make
    for codec in codecs:
        codec.close()


@pytest.fixture(scope="module")
def use_time_zone() -> Iterator[Callable[[str], None]]:
    """Changes the time zone of the process until the module's end."""
    before = os.environ.get("TZ")

    def use(name: str | None) -> None:
        if name is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = name
        time.tzset()

    yield use
    use(before)


@pytest.fixture(scope="session")
def recording() -> cases.Recording:
    """The rows that Spark builds of `cases.py`; built once for all Pythons."""
    sources = [HERE / "cases.py", HERE / "spark_rows.py", MODULES / "user_defined.py"]
    digest = hashlib.sha256(pyspark.__version__.encode())
    for source in sources:
        digest.update(source.read_bytes())
    path = ROOT / "build" / "tests" / f"spark-rows-{digest.hexdigest()[:16]}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            record(path)
    recorded: cases.Recording = pickle.loads(path.read_bytes())
    return recorded


def record(path: Path) -> None:
    """Has Spark build the rows."""
    environment = uninstrumented_environment()
    path_of_modules = os.pathsep.join(map(str, (HERE, MODULES)))
    environment.update(
        TZ=cases.TIME_ZONE, PYSPARK_PYTHON=sys.executable, PYTHONPATH=path_of_modules
    )
    program = [sys.executable, HERE / "spark_rows.py", path]
    run = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
