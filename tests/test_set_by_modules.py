"""What modules set while they are imported."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from comparison import settings, thread_modes
from deployments import PROGRAMS, run


@pytest.mark.core
def test_it_applies_to_all_tasks_of_the_application(tmp_path):
    output = run([sys.executable, PROGRAMS / "set_by_modules.py"], tmp_path, SPARK_TESTING="1")
    assert "ALL RIGHT" in output


def became_of_import(directory, name, before, afterwards, _):
    import os
    import sys
    import time

    sys.path.insert(0, directory)
    try:
        exec(before)
        __import__(name)
        exec(afterwards)
        return f"imported {os.environ.get('TZ')}"
    except Exception as error:
        return repr((str(error), os.environ.get("TZ"), name in sys.modules))
    finally:
        sys.path.remove(directory)
        sys.modules.pop(name, None)
        os.environ.pop("TZ", None)
        time.tzset()


@pytest.fixture
def import_twice(spark, tmp_path, make_udf):
    """Imports a module of that code in one task after another; what became of it each time."""

    def of(code, before="", afterwards=""):
        name = f"sets_{abs(hash((code, str(tmp_path))))}"
        (tmp_path / f"{name}.py").write_text(code)
        work = partial(became_of_import, str(tmp_path), name, before, afterwards)
        seen = []
        for mode in thread_modes():
            with settings(spark, mode):
                query = spark.range(1).select(make_udf(work)("id"))
                seen += [query.collect()[0][0] for _ in range(2)]
        assert seen == seen[:1] * len(seen), seen
        return seen[0]

    return of


OTHER_ZONE = "import os, time\nos.environ['TZ'] = 'Pacific/Apia'\n"
LOCAL_ZONE = """
import os, pathlib, time
zone = str(pathlib.Path("/etc/localtime").resolve()).partition("/zoneinfo/")[2] or "UTC"
os.environ["TZ"] = zone
time.tzset()
"""


def test_another_time_zone_is_refused(import_twice):
    refusal = import_twice(f"{OTHER_ZONE}time.tzset()\n")
    assert "time.tzset() would change the time zone of the whole executor" in refusal
    assert refusal.endswith(", None, False)")


def test_the_same_time_zone_is_not_refused(import_twice):
    forgotten = "time.tzset()\ndel os.environ['TZ']\n"
    assert import_twice(f"{OTHER_ZONE}{forgotten}") == "imported None"
    assert import_twice("import time\ntime.tzset()\n", before=OTHER_ZONE) == (
        "imported Pacific/Apia"
    )
    assert import_twice("", afterwards=LOCAL_ZONE).startswith("imported ")


def test_another_locale_is_refused(import_twice):
    refusal = import_twice("import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n")
    assert "locale.setlocale() would change the locale of the whole executor" in refusal
    for same in ("''", "'C'", "None", "(None, None)"):
        code = f"import locale\nlocale.setlocale(locale.LC_NUMERIC, {same})\n"
        assert import_twice(code) == "imported None"
