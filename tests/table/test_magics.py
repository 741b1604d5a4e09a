"""SQL in IPython: magics, completion, and tables that are brought up to date in a notebook."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from pyflow.cli.interactive import results
from pyflow.cli.interactive.completion import candidates

UNBOUNDED = (
    "CREATE TABLE g (id BIGINT, word STRING) WITH ('connector' = 'datagen', "
    "'rows-per-second' = '5')"
)


@pytest.fixture
def ipython(streaming):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance(user_ns={"st_env": streaming})
    shell.run_line_magic("load_ext", "pyflow")
    yield shell
    interactive.InteractiveShell.clear_instance()


def test_magics(ipython, capsys):
    ipython.run_cell("%sql SELECT 40 + 2 AS answer")
    ipython.run_cell("%%sql\nCREATE TEMPORARY VIEW v AS SELECT 7 AS n;\nSELECT n FROM v")
    ipython.run_cell("%sql SELECT nix FROM v")

    printed = capsys.readouterr()
    assert "answer" in printed.out
    assert "| +I |           7 |" in printed.out
    assert "Column 'nix' not found" in printed.err


@pytest.mark.filterwarnings("ignore::IPython.core.completer.ProvisionalCompleterWarning")
@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%sql SELECT id FROM ", {"g"}),
        ("%%sql\nSELECT id,\n  wo", set()),
        ("%sql SELECT g.wo", set()),
        ("%sql DESCRIBE g; SELECT * FROM g WHERE wo", {"word"}),
        ("%%sql\nSELECT *\nFROM g WHERE id = 1 AND wo", {"word"}),
    ],
)
def test_completion_in_cells(ipython, streaming, cell, expected):
    streaming.execute_sql(UNBOUNDED)
    found = {each.text for each in ipython.Completer.completions(cell, len(cell))}
    assert {text for text in found if text in ("g", "word")} == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("SELECT * FROM ", "", ["g", "h"]),
        ("DESCRIBE ", "", ["g", "h"]),
        ("INSERT INTO h", "", ["h"]),
        ("SELECT wo", " FROM g", ["word"]),
        ("SELECT x.", " FROM g AS x JOIN h y ON TRUE", ["x.id", "x.word"]),
        ("SELECT y.n", " FROM g x JOIN h y ON TRUE", ["y.n"]),
        ("SHOW TABL", "", ["TABLE", "TABLES"]),
        ("sel", "", ["SELECT"]),
        ("SELECT UPP", "", ["UPPER"]),
        ("SELECT nothing_like_it", "", []),
    ],
)
def test_candidates(streaming, before, after, expected):
    streaming.execute_sql(UNBOUNDED)
    streaming.execute_sql("CREATE TEMPORARY VIEW h AS SELECT 1 AS n")

    assert candidates(streaming, before, after) == expected


def test_unbounded_rows_in_one_output_of_a_notebook(streaming, monkeypatch, capsys):
    display = pytest.importorskip("IPython.display")
    drawn = []

    class Handle:
        def update(self, html):
            drawn.append(html.data)

    def displayed(html, display_id):
        drawn.append(html.data)
        return Handle()

    monkeypatch.setattr(display, "display", displayed)
    monkeypatch.setattr(results, "_canvas", results._Notebook)
    streaming.execute_sql(UNBOUNDED)

    def interrupt():
        end = time.monotonic() + 60
        while len(drawn) < 2 and time.monotonic() < end:
            time.sleep(0.1)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    results.show(streaming, streaming.execute_sql("SELECT COUNT(*) AS c FROM g"))

    assert [html.count("<td>") for html in drawn[:2]] == [1, 1]
    assert "Ctrl-C ends the query" in drawn[0]
    assert "Query terminated" in capsys.readouterr().out
    assert streaming._context.session.streams.active == []
