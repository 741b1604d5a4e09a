"""The tab "Python" in Spark's UI: of a running application and in the history server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
from pathlib import Path

import pyspark
import pytest

import pyflow
from sessions import FREE_THREADED, OWN_GIL, ROOT, wait_until
from spark_ui import Shown, read

PROGRAM = ROOT / "tests" / "programs" / "observed_functions.py"
ROWS = 2000
HOSTILE = "<script>document.title='run'</script>"


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="module")
def live(events, tmp_path_factory):
    """The program, when all of its queries have ended."""
    folder = tmp_path_factory.mktemp("observed")
    with (folder / "log").open("wb") as log:
        program = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(events)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
        )
    try:
        application, ui = program.stdout.readline().split()
        yield Shown(ui, application)
    finally:
        program.stdin.close()
        try:
            program.wait(60)
        finally:
            program.kill()


@pytest.fixture(scope="module")
def history(live, events, tmp_path_factory):
    """The same application in a history server that has the jar, read from its event log."""
    folder = tmp_path_factory.mktemp("history")
    log = folder / "log"
    options = {
        "spark.history.fs.logDirectory": events.as_uri(),
        "spark.history.ui.port": "0",
        "spark.history.fs.update.interval": "1s",
    }
    with log.open("wb") as output:
        server = subprocess.Popen(
            [
                Path(pyspark.__file__).parent / "bin" / "spark-class",
                "org.apache.spark.deploy.history.HistoryServer",
            ],
            env={
                **os.environ,
                "SPARK_DAEMON_CLASSPATH": pyflow.jar_path(),
                "SPARK_HISTORY_OPTS": " ".join(f"-D{key}={to}" for key, to in options.items()),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_NO_DAEMONIZE": "1",
            },
            stdout=output,
            stderr=output,
            cwd=folder,
        )
    try:
        bound = re.compile(r"HistoryServerUI' on port (\d+)")
        wait_until(lambda: bound.search(log.read_text()), "the server listens")
        address = f"http://127.0.0.1:{bound.search(log.read_text())[1]}"

        def is_listed():
            listed = json.loads(read(f"{address}/api/v1/applications"))
            return live.application in {each["id"] for each in listed}

        wait_until(is_listed, "the application is listed")
        yield Shown(f"{address}/history/{live.application}", live.application)
    finally:
        server.kill()
        server.wait()


@pytest.fixture(params=["live", "history"])
def shown(request):
    return request.getfixturevalue(request.param)


@pytest.mark.complete("history")
def test_functions_with_what_they_took(shown):
    found = shown.functions("score")

    assert found["modes"] == ["thread", "process"]
    assert found["queries"] == 2
    assert found["totals"]["rows"] == 2 * ROWS
    assert found["totals"]["workerTasks"] == 2
    assert found["totals"]["isolatedTasks" if OWN_GIL else "sharedTasks"] == 2
    # Half a millisecond for each row in thread mode.
    assert found["totals"]["pythonTime"] > ROWS * 500_000
    assert found["totals"]["calls"] == sum(point["calls"] for point in found["timeline"])
    assert found["executors"] == {"driver": found["totals"]}


def test_batches_are_in_the_shared_interpreter(shown):
    found = shown.functions("twice")

    assert found["operators"] == ["ThreadArrowEvalPython"]
    assert found["totals"]["sharedTasks"] == 2
    assert found["totals"]["rows"] == ROWS


def test_reason_for_process_mode(shown):
    found = shown.functions("refused")

    assert found["modes"] == ["process"]
    assert found["reasons"] == [
        "refused is not among the functions allowed in thread mode "
        f"(spark.pyflow.thread-mode.allowed=score,twice,busy,{HOSTILE})"
    ]
    by_setting = shown.functions("score")["reasons"]
    assert by_setting == ["the execution mode is process (spark.pyflow.execution-mode)"]


@pytest.mark.skipif(FREE_THREADED, reason="there is no GIL")
def test_functions_that_have_moved(shown):
    [moved] = shown.answer("moves")
    waited = r"its tasks waited \d+ % of their time for the GIL that they share"

    assert moved["functions"] == ["busy"]
    assert re.match(waited, moved["reason"])
    assert shown.functions("busy")["reasons"] == [moved["reason"]]
    assert "<h4>Moved functions</h4>" in shown.page()


def test_each_query_by_operator(shown):
    *_, by_setting, _, _, _, first = [
        each for each in shown.answer("queries") if each["operators"][0]["functions"] != ["busy"]
    ]

    assert shown.answer(f"queries/{first['id']}") == first
    assert [each["functions"] for each in first["operators"]] == [["score"]]
    assert first["completed"] >= first["submitted"]
    assert first["operators"][0]["mode"] == "thread"
    assert by_setting["operators"][0]["mode"] == "process"


def test_dependencies_of_a_query(shown):
    latest, *_, first = shown.answer("queries")

    assert latest["dependencies"] == [{"functions": ["extended"], "files": ["extra.zip"]}]
    assert "extra.zip" in shown.page(f"query/?id={latest['id']}")
    assert first["dependencies"] == []
    assert "Dependencies" not in shown.page(f"query/?id={first['id']}")


def test_no_such_query(shown):
    with pytest.raises(urllib.error.HTTPError) as raised:
        shown.answer("queries/77")

    assert raised.value.code == 404
    assert "No query 77 has Python functions" in shown.page("query/?id=77")
    assert "No query <b>" not in shown.page("query/?id=%3Cb%3E")


def test_executors_with_their_interpreters(shown):
    def modules(interpreters):
        return [module for each in interpreters for module in each["modules"]]

    def told():
        executor = shown.answer("executors")[0]
        return any(module.startswith("pandas ") for module in modules(executor["interpreters"]))

    wait_until(told, "the executor has told of what the last query has imported", 60, every=1)
    executor = shown.answer("executors")[0]
    shared, *isolated = executor["interpreters"]

    assert executor["python"] == ".".join(map(str, sys.version_info[:3]))
    assert executor["memory"] > 1 << 20
    assert executor["totals"]["peakMemory"] > 1 << 20
    assert shared["number"] == 0
    assert bool(isolated) == OWN_GIL
    assert not any("pandas" in module for module in modules(isolated))


def test_pages_have_tables_and_a_plot(shown):
    page = shown.page()
    query = shown.page(f"query/?id={shown.answer('queries')[-1]['id']}")

    for title in ("Functions", "Time per call", "Executors", "Dependencies", "Queries"):
        assert f"<h4>{title}</h4>" in page
    assert 'class="pyflow-plot"' in page
    assert re.search(r"<title>score: [\d.]+ (µs|ms|s) per call, \d+ calls", page)
    assert "ThreadEvalPython" in query
    assert 'class="pyflow-plot"' in query


def test_names_are_no_markup(shown):
    """The name is in a setting, in a reason and in the function's own."""
    assert "<script>document.title" not in shown.page()
    assert "&lt;script&gt;document.title" in shown.page()


def test_metrics_through_a_sink_of_spark(live):
    found = read(f"{live.ui}/metrics/prometheus")

    def value(name):
        line = re.search(rf"_plugin_io_pyflow_PyFlowPlugin_{name}_Value{{.*}} (\d+)", found)
        return int(line[1])

    assert value("functions_score_rows") == 2 * ROWS
    assert value("functions_score_pythonTime") > ROWS * 500_000
    assert value("rows") >= value("functions_score_rows") + value("functions_twice_rows")


@pytest.mark.skipif(
    shutil.which("chromium-headless-shell") is None, reason="there is no Chromium here"
)
def test_in_a_browser(shown, tmp_path):
    browser = pytest.importorskip("browser", reason="there is no client of WebSockets")
    with browser.opened(f"{shown.ui}/python/", tmp_path, 1600, 1000) as page:
        wait_until(lambda: "Time per call" in page.text(), "the page is shown", 60)
        text = page.text()
        picture = tmp_path / "tab.png"
        page.write_picture(picture)

    assert "Structured Streaming" in text or "Executors" in text
    assert "score" in text
    assert HOSTILE in text
    assert picture.stat().st_size > 10_000


WITHOUT = """
import sys, urllib.request, sessions
conf = {"spark.ui.enabled": "true", "spark.ui.port": "0", "spark.pyflow.ui.enabled": "false"}
spark = sessions.start(conf=conf)
address = spark.sparkContext.uiWebUrl
print("/python/" in urllib.request.urlopen(f"{address}/jobs/").read().decode())
spark.stop()
"""


@pytest.mark.complete
def test_the_tab_can_be_left_out(tmp_path):
    printed = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert printed == "False\n"
