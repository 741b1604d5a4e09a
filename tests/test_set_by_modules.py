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


def error_of_import(directory, name, code, _):
    import os
    import sys

    sys.path.insert(0, directory)
    try:
        exec(code)
        __import__(name)
    except Exception as error:
        return repr((str(error), os.environ.get("TZ"), name in sys.modules))
    finally:
        sys.path.remove(directory)
    return "imported"


@pytest.fixture
def import_twice(spark, tmp_path, make_udf):
    """Imports a module of that code in two tasks, one after the other; what became of it."""

    def of(code, before=""):
        name = f"sets_{abs(hash((code, str(tmp_path))))}"
        (tmp_path / f"{name}.py").write_text(code)
        function = make_udf(partial(error_of_import, str(tmp_path), name, before))
        seen = []
        for mode in thread_modes():
            with settings(spark, mode):
                query = spark.range(1).select(function("id"))
                seen += [query.collect()[0][0] for _ in range(2)]
        assert seen == seen[:1] * len(seen), seen
        return seen[0]

    return of


OTHER_ZONE = "import os, time\nos.environ['TZ'] = 'Pacific/Apia'\n"


def test_another_time_zone_is_refused(import_twice):
    refusal = import_twice(f"{OTHER_ZONE}time.tzset()\n")
    assert "time.tzset() would change the time zone of the whole executor" in refusal
    assert refusal.endswith(", None, False)")


def test_time_zones_that_are_the_same_in_the_end(import_twice):
    local = "import os, pathlib\nzone = str(pathlib.Path('/etc/localtime').resolve())\n"
    by_name = "os.environ['TZ'] = zone.partition('/zoneinfo/')[2] or 'UTC'\n"
    forgotten = "time.tzset()\ndel os.environ['TZ']\n"
    assert import_twice(f"{local}{by_name}import time\ntime.tzset()\n{forgotten}") == "imported"
    assert import_twice(f"{OTHER_ZONE}{forgotten}") == "imported"


def test_another_locale_is_refused(import_twice):
    refusal = import_twice("import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n")
    assert "locale.setlocale() would change the locale of the whole executor" in refusal
    for same in ("''", "'C'", "None"):
        code = f"import locale\nlocale.setlocale(locale.LC_NUMERIC, {same})\n"
        assert import_twice(code) == "imported"
