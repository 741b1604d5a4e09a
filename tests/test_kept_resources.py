"""What a module keeps, used by a task, by one after it, and by two at once."""

from __future__ import annotations

import sys
import uuid

import pytest
from pyspark.sql.functions import udf

from comparison import process_mode, settings, thread_modes
from sessions import FALLBACK

pytestmark = pytest.mark.core

MODES = [process_mode(), {**thread_modes()[-1], FALLBACK: "false"}]


@pytest.fixture
def one_worker(spark, monkeypatch):
    """Has the tasks of process mode use one worker, as long as they come one at a time."""
    monkeypatch.setitem(spark.sparkContext.environment, "TESTED", "tasks in turn")


@pytest.fixture
def kept(spark, tmp_path):
    """Makes a module of a name that is new, which functions can import by that name."""

    def make(source):
        name = f"kept_{uuid.uuid4().hex}"
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        spark.sparkContext.addPyFile(str(path))
        return name

    return make


def queries(spark, function, returned="string", tasks=1):
    """What a function of the number of a task returns or raises, in a query of some tasks."""
    frame = spark.range(tasks, numPartitions=tasks).select(udf(function, returned)("id"))
    try:
        return sorted(row[0] for row in frame.collect())
    except Exception as error:
        return type(error).__name__


CONNECTIONS = {
    "memory": "sqlite3.connect(':memory:')",
    "immediate": "sqlite3.connect(':memory:', isolation_level='IMMEDIATE')",
    "no transactions": "sqlite3.connect(':memory:', isolation_level=None)",
    "file": "sqlite3.connect(PATH)",
}
if sys.version_info >= (3, 12):
    CONNECTIONS["autocommit"] = "sqlite3.connect(':memory:', autocommit=True)"
    CONNECTIONS["no autocommit"] = "sqlite3.connect(':memory:', autocommit=False)"
    CONNECTIONS["file without autocommit"] = "sqlite3.connect(PATH, autocommit=False)"


@pytest.mark.usefixtures("one_worker")
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in ("memory", "file") else pytest.mark.complete)
        for kind in CONNECTIONS
    ],
)
def test_a_connection_whose_tasks_end_without_commit(spark, kept, tmp_path, kind):
    """The transaction is then the next task's."""
    path = tmp_path / "kept.db"

    def use(module):
        def inserted(_):
            connection = __import__(module).connection
            connection.execute("insert into t values (100)")
            return str(connection.execute("select count(*), sum(n) from t").fetchall())

        def committed(_):
            connection = __import__(module).connection
            with connection:
                connection.execute("insert into t values (1000)")
            return str([connection.in_transaction, *connection.execute("select sum(n) from t")])

        def read(_):
            cursor = __import__(module).cursor
            return str(cursor.execute("select sum(n) from t").fetchone())

        return [
            queries(spark, function) for function in (read, inserted, inserted, committed, read)
        ]

    seen = []
    for mode in MODES:
        path.unlink(missing_ok=True)
        module = kept(f"""
import sqlite3
PATH = {str(path)!r}
connection = {CONNECTIONS[kind]}
cursor = connection.cursor()
cursor.execute("create table t (n integer)")
cursor.executemany("insert into t values (?)", [(n,) for n in range(10)])
""")
        with settings(spark, mode):
            seen.append(use(module))
    assert seen[1] == seen[0]
    assert "Exception" not in str(seen)


@pytest.mark.usefixtures("one_worker")
def test_a_connection_whose_task_fails(spark, kept, tmp_path):
    """What it has not committed is undone, and what was done before it is not."""

    def use(module):
        def fails(_):
            connection = __import__(module).connection
            connection.execute("insert into t values (100)")
            raise ValueError

        def read(_):
            return str(__import__(module).connection.execute("select * from t").fetchall())

        def committed(_):
            with __import__(module).connection as connection:
                connection.execute("insert into t values (1)")
            return ""

        return [queries(spark, function) for function in (read, fails, read, committed, read)]

    seen = []
    for number, mode in enumerate(MODES):
        module = kept(f"""
import sqlite3
connection = sqlite3.connect({str(tmp_path / f"{number}.db")!r})
connection.execute("create table if not exists t (n integer)")
""")
        with settings(spark, mode):
            seen.append(use(module))
    assert seen[1] == seen[0]
    assert seen[1][2] == ["[]"]
    assert seen[1][4] == ["[(1,)]"]


def test_a_connection_that_two_tasks_read_at_once(spark, kept):
    """A table that a module fills, also where it does not commit."""

    def reads(n):
        import time

        connection = __import__(module).connection
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            (count,) = connection.execute("select count(*) from t").fetchone()
        return f"{n} {count}"

    module = kept("""
import sqlite3
connection = sqlite3.connect(":memory:", timeout=0.1)
connection.execute("create table t (n integer)")
connection.executemany("insert into t values (?)", [(n,) for n in range(10)])
""")
    for mode in MODES:
        with settings(spark, mode):
            assert queries(spark, reads, tasks=2) == ["0 10", "1 10"]


#: What a module makes; what a task does with it is `use(n)`, of 1 and then of 2.
KEPT = {
    "dbm": """
import dbm.dumb, tempfile, os
kept = dbm.dumb.open(os.path.join(tempfile.mkdtemp(), "kept"), "c")
def use(n):
    kept[str(n)] = str(n)
    return sorted(kept.keys())
""",
    "shelve": """
import shelve, tempfile, os
kept = shelve.open(os.path.join(tempfile.mkdtemp(), "kept"))
def use(n):
    kept[str(n)] = [n]
    return sorted(kept.items())
""",
    "temporary file": """
import tempfile
kept = tempfile.TemporaryFile("w+")
def use(n):
    kept.write(str(n))
    kept.seek(0)
    return kept.read()
""",
    "log handler": """
import io, logging
text = io.StringIO()
logger = logging.getLogger(__name__)
logger.addHandler(logging.StreamHandler(text))
logger.propagate = False
def use(n):
    logger.error("said by %s", n)
    return text.getvalue()
""",
    "connection": """
import http.client, http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
kept = http.client.HTTPConnection(*server.server_address)
def use(n):
    kept.request("GET", f"/{n}")
    return kept.getresponse().read().decode()
""",
    "event loop": """
import asyncio
loop = asyncio.new_event_loop()
queue = asyncio.Queue()
async def work(n):
    await queue.put(n)
    await asyncio.sleep(0)
    return queue.qsize()
def use(n):
    return loop.run_until_complete(work(n))
""",
    "thread pool": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def use(n):
    return list(pool.map(abs, [-n, -n]))
""",
    "process pool": """
from concurrent.futures import ProcessPoolExecutor
pools = []
def use(n):
    if not pools:
        pools.append(ProcessPoolExecutor(1))
    result = pools[0].submit(abs, -n).result()
    if n == 2:
        pools.pop().shutdown()
    return result
""",
    "generator": """
import itertools
kept = itertools.accumulate(itertools.repeat(1))
def numbers():
    with lock:
        yield from kept
import threading
lock = threading.RLock()
kept_numbers = numbers()
def use(n):
    return next(kept_numbers)
""",
    "lock": """
import threading
kept = threading.RLock()
def use(n):
    with kept:
        return n
""",
}


@pytest.mark.usefixtures("one_worker")
def test_what_a_module_keeps_is_used_by_tasks_in_turn(spark, kept):
    """The second task gets what the first has left."""
    seen = []
    for mode in MODES:
        modules = {name: kept(source) for name, source in KEPT.items()}

        def uses(number, modules=modules):
            def use(_):
                used = {}
                for name, module in modules.items():
                    try:
                        used[name] = __import__(module).use(number)
                    except Exception as error:
                        used[name] = repr(error)
                return str(used)

            return use

        with settings(spark, mode):
            seen.append([queries(spark, uses(number)) for number in (1, 2)])
    assert seen[1] == seen[0]
    assert "Error" not in str(seen)
