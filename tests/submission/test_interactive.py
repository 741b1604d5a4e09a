"""``pyflow shell`` and ``pyflow sql``, in a terminal as a user has one."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import pyflow
from deployments import connect_server
from pyflow.cli.interactive.statements import is_blank, split

pexpect = pytest.importorskip("pexpect")

SECONDS = 150
UNBOUNDED = (
    "CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5', "
    "'fields.id.min' = '1', 'fields.id.max' = '9');"
)
HERE = ("-t", "local[2]", "-D", "spark.log.level=ERROR")
PYTHON = r"\[thread, auto\] >>> "
SQL = "pyflow SQL> "


@pytest.fixture
def terminal(tmp_path):
    """Starts the command in a terminal of 30 lines and 120 columns."""
    started = []

    def start(*words):
        environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm"}
        started.append(
            pexpect.spawn(
                sys.executable,
                # Warnings of Spark would stand anywhere in what is printed.
                ["-m", "pyflow", *words, *(() if "remote" in words else HERE)],
                env=environment,
                cwd=str(tmp_path),
                dimensions=(30, 120),
                timeout=SECONDS,
                encoding="utf-8",
            )
        )
        return started[-1]

    yield start
    for each in started:
        each.close(force=True)


def answer(terminal, line, prompt):
    """What is printed after a line, up to the next prompt."""
    terminal.sendline(line)
    terminal.expect(prompt)
    return terminal.before


def interrupt(terminal, prompt):
    """Type Ctrl-C at a prompt, up to the next one.

    readline shows its prompt before it waits for a key, and does not see a signal that comes
    between the two: it is typed again then.
    """
    for _ in range(10):
        terminal.sendintr()
        if terminal.expect([prompt, pexpect.TIMEOUT], timeout=SECONDS / 10) == 0:
            return
    pytest.fail(f"no prompt after Ctrl-C: {terminal}")


def exit_code(terminal):
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.exitstatus


@pytest.mark.complete
def test_shell_of_python(terminal, tmp_path):
    shell = terminal("shell", "--plain")
    shell.expect(PYTHON)
    assert f"PyFlow {pyflow.__version__}" in shell.before

    # The example of the banner works as it stands.
    example = shell.before.partition("For example:")[2].strip().splitlines()
    *lines, sql = [answer(shell, line, PYTHON) for line in example]
    assert re.search(r"\| \+I \| +2 \| +4 \|", lines[-1])
    assert re.search(r"\| \+U \| +3 \|", sql)
    assert "SparkSession" in answer(shell, "spark", PYTHON)
    assert "StreamExecutionEnvironment" in answer(shell, "s_env", PYTHON)

    shell.send("%sql SELECT n FROM num\t WHERE n > 1\n")
    shell.expect(PYTHON)
    assert "FROM numbers" in shell.before
    assert "1 row in set" in shell.before

    shell.send(f"%%sql\n{UNBOUNDED}\nSELECT id FROM g\n\n")
    shell.expect("updated [0-9:]+; Ctrl-C.*\x1b\\[\\d+F.*updated")
    shell.sendintr()
    shell.expect(r"Query terminated, received a total of \d+ rows")
    shell.expect(PYTHON)

    assert "Column 'nix' not found" in answer(shell, "%sql SELECT nix FROM numbers", PYTHON)
    process = r"\[process\] >>> "
    answer(shell, "spark.conf.set('spark.pyflow.execution-mode', 'process')", process)
    shell.sendeof()
    assert exit_code(shell) == 0
    assert "%sql SELECT nix FROM numbers" in (tmp_path / "pyflow/history/shell").read_text()


@pytest.mark.complete
def test_shell_of_ipython(terminal):
    pytest.importorskip("IPython")
    shell = terminal("shell")
    shell.expect(r"\[thread, auto\].*In .*: ")
    shell.sendline("%sql SELECT 40 + 2 AS answer")
    shell.expect(r"\|\s+42 \|")
    shell.sendline("exit")
    assert exit_code(shell) == 0


def test_sql_client(terminal, tmp_path):
    (tmp_path / "init.sql").write_text(UNBOUNDED)
    client = terminal("sql", "-i", "init.sql", "-D", "table.display.max-column-width=5")
    client.expect(SQL)
    client.send("SELECT 'abcdefgh'\nAS word;\n")
    client.expect("row in set")
    assert "abc..." in client.before
    client.expect(SQL)
    assert "QUIT;" in answer(client, "HELP", SQL)
    client.sendline("SELECT COUNT(*) AS c FROM g;")
    client.expect("1 row; updated.*1 row; updated")
    client.sendintr()
    client.expect("Query terminated")
    client.expect(SQL)
    assert "[ERROR]" in answer(client, "SELECT nix FROM g;", SQL)

    # A job goes on when Ctrl-C is typed.
    answer(client, "CREATE TABLE b WITH ('connector' = 'blackhole') LIKE g (EXCLUDING ALL);", SQL)
    assert "Job has been submitted" in answer(client, "INSERT INTO b SELECT id FROM g;", SQL)
    interrupt(client, SQL)
    client.sendline("QUIT;")
    assert exit_code(client) == 0


@pytest.mark.complete
def test_shell_over_spark_connect(terminal, tmp_path):
    pytest.importorskip("grpc")
    with connect_server(tmp_path) as address:
        settings = ("-D", "spark.sql.shuffle.partitions=3", "-D", "pipeline.name=of the shell")
        shell = terminal("shell", "remote", f"sc://{address}", "--plain", *settings)
        shell.expect(PYTHON)
        assert f"at sc://{address}" in shell.before
        conf = 'print(spark.conf.get("spark.sql.shuffle.partitions") + "!")'
        assert "\n3!" in answer(shell, conf, PYTHON)
        name = 'print(st_env.get_config().get("pipeline.name", None) + "!")'
        assert "\nof the shell!" in answer(shell, name, PYTHON)
        assert re.search(r"\| +42 \|", answer(shell, "%sql SELECT 40 + 2", PYTHON))
        shell.sendeof()
        assert exit_code(shell) == 0


def run_sql(tmp_path, *words, text=None):
    command = [sys.executable, "-m", "pyflow", "sql", "-t", "local[2]", *words]
    return subprocess.run(
        command,
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        timeout=SECONDS,
    )


def test_script(tmp_path):
    """Its insertions are waited for; it ends at the first statement that fails."""
    script = tmp_path / "script.sql"
    written = tmp_path / "written"
    script.write_text(
        f"""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE w (a INT, s STRING) WITH (
          'connector' = 'filesystem', 'format' = 'csv', 'path' = '{written}');
        SELECT COUNT(*) AS n FROM (VALUES (1), (2));
        BEGIN STATEMENT SET;
        INSERT INTO w VALUES (1, 'a;b'); -- one; of two
        INSERT INTO w SELECT 2, 'c';
        END;
        INSERT INTO w VALUES (3, 'd')
        """
    )
    result = run_sql(tmp_path, "-f", str(script))

    assert result.returncode == 0, result.stderr
    assert re.search(r"\|\s+2 \|\n", result.stdout)
    assert "| op |" not in result.stdout
    rows = sorted(line for part in written.glob("part-*") for line in part.read_text().split())
    assert rows == ["1,a;b", "2,c", "3,d"]


def test_a_statement_set_without_its_end_fails(tmp_path):
    result = run_sql(tmp_path, text="BEGIN STATEMENT SET; INSERT INTO w VALUES (1); QUIT;")

    assert result.returncode == 1
    assert "the statement set has no END: its INSERT statements have not been run" in result.stderr


@pytest.mark.complete
def test_script_that_fails(tmp_path):
    result = run_sql(tmp_path, text="SELECT 1; SELECT nix FROM nowhere; SELECT 2;")

    assert result.returncode == 1
    assert "[ERROR] SQL statement, line 1, column 17: Table" in result.stderr
    assert "SELECT 2" not in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shell", "remote"], "'remote' is neither `local` nor `remote URL`"),
        (["shell", "remote", "http://host"], "no address of Spark Connect"),
        (["shell", "-t", "yarn-application"], "the driver has to be here"),
        (["shell", "remote", "sc://host", "--", "--driver-memory", "1g"], "starts no JVM"),
        (["shell", "--", "--driver-memory"], "--driver-memory has no value"),
        (["sql", "-f", "missing.sql"], "there is no file 'missing.sql'"),
        (["sql", "-l", "missing"], "-l: 'missing' is no directory"),
        (["sql", "-D", "python.executable"], "-D takes KEY=VALUE"),
        (["sql", "-e", "host:8083"], "-e of Flink is not supported: there is no gateway"),
        (["sql", "--session", "ours"], "--session of Flink is not supported: there is no gateway"),
    ],
)
def test_what_cannot_be_started(tmp_path, words, said):
    command = [sys.executable, "-m", "pyflow", *words]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)

    assert result.returncode == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("", [], ""),
        ("SELECT 1; SELECT 2", ["SELECT 1"], "SELECT 2"),
        ("SELECT ';' ;", ["SELECT ';'"], ""),
        ("SELECT 'it''s;' ; x", ["SELECT 'it''s;'"], "x"),
        ("SELECT `a;b`;;", ["SELECT `a;b`"], ""),
        ("-- a;\nSELECT 1 /* ; */;", ["SELECT 1 /* ; */"], ""),
        ("SELECT 'a;", [], "SELECT 'a;"),
        ("/* a;", [], "/* a;"),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; x;",
            [
                "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
                "x",
            ],
            "",
        ),
    ],
)
def test_statements_of_a_text(text, statements, rest):
    assert split(text) == (statements, rest)


def test_blank_texts():
    assert is_blank(" -- a\n/* b */")
    assert not is_blank("a")
