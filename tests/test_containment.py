"""What functions must not change for the whole executor, and how long they may take."""

from __future__ import annotations

import contextlib
import json
import locale
import shutil
import time

import pytest
from pyspark.sql.functions import udf

from comparison import settings, thread_modes
from sessions import INTERPRETER

pytestmark = pytest.mark.core

TIMEOUT = "spark.pyflow.python.timeout"


def forks():
    import os

    os.fork()


def forks_a_pool():
    import multiprocessing

    multiprocessing.get_context("fork").Pool(1)


def replaces_the_process():
    import os

    os.execvp("true", ["true"])


def changes_directory():
    import os

    os.chdir("/")


def makes_a_file_with_another_mask():
    import os

    before = os.umask(0o77)
    try:
        os.mkdir("/tmp/never-made")
    finally:
        os.umask(before)


def sets_an_alarm():
    import signal

    signal.alarm(1)


def sets_a_timer():
    import signal

    signal.setitimer(signal.ITIMER_REAL, 0.01)


def handles_a_signal():
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def limits_memory():
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))


def sets_locale():
    import locale

    locale.setlocale(locale.LC_ALL, "C")


def exits():
    import os

    os._exit(1)


def aborts():
    import os

    os.abort()


def kills_itself():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def kills_its_group():
    import os
    import signal

    os.killpg(0, signal.SIGTERM)


def raises_a_signal():
    import signal

    signal.raise_signal(signal.SIGTERM)


def waits_for_a_signal():
    import signal

    signal.sigwait([signal.SIGTERM])


def becomes_somebody_else():
    import os

    os.setuid(os.getuid())


def leads_a_session():
    import os

    os.setsid()


def is_nice():
    import os

    os.nice(1)


def keeps_to_a_processor():
    import os

    os.sched_setaffinity(0, {0})


def closes_all_files():
    import os

    os.closerange(3, 1000)


def replaces_standard_output():
    import os

    os.dup2(2, 1)


def limits_itself():
    import os
    import resource

    resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (100, 100))


def traces_memory():
    import tracemalloc

    tracemalloc.start()


def sets_zone():
    import os
    import time

    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()


def waits_for_any_child():
    import os

    os.wait()


def takes_the_exit_of_any_child():
    import os

    os.waitpid(-1, os.WNOHANG)


def prepares_a_child():
    import subprocess

    subprocess.run(["true"], preexec_fn=print)


REFUSED = {
    forks: "os.fork() would copy the executor's JVM",
    forks_a_pool: "os.fork() would copy the executor's JVM",
    replaces_the_process: "would replace the executor's JVM",
    changes_directory: "os.chdir() would change the directory of the whole executor",
    makes_a_file_with_another_mask: "os.umask() has set another mask than the whole executor's",
    exits: "os._exit() would end the executor's JVM",
    aborts: "os.abort() would end the executor's JVM",
    kills_itself: "os.kill() would send a signal to the executor's JVM",
    kills_its_group: "os.killpg() would send a signal to the executor's JVM",
    raises_a_signal: "signal.raise_signal() would send a signal to the executor's JVM",
    waits_for_a_signal: "signal.sigwait() would take signals from the executor's JVM",
    becomes_somebody_else: "os.setuid() would change the rights of the whole executor",
    leads_a_session: "os.setsid() would move the executor's JVM to another session",
    is_nice: "os.nice() would change the priority of the executor's threads",
    keeps_to_a_processor: "os.sched_setaffinity() would change the priority",
    closes_all_files: "os.closerange() would close files of the executor",
    replaces_standard_output: "os.dup2() would replace a standard stream of the whole executor",
    limits_itself: "resource.prlimit() would limit the whole executor",
    traces_memory: "tracemalloc.start() would trace the memory of the whole executor",
    sets_zone: "time.tzset() would change the time zone of the whole executor",
    prepares_a_child: "preexec_fn would run Python in a copy of the executor's JVM",
    sets_an_alarm: "signal.alarm() would send a signal to the executor's JVM",
    sets_a_timer: "signal.setitimer() would send a signal to the executor's JVM",
    handles_a_signal: "signal only works in main thread",
    limits_memory: "resource.setrlimit() would limit the whole executor",
    waits_for_any_child: "os.wait() would take the exit of a child",
    takes_the_exit_of_any_child: "os.waitpid() would take the exit of a child",
    sets_locale: "locale.setlocale() would change the locale of the whole executor",
}


def test_functions_that_the_main_program_has_imported_by_name_are_refused_too(spark, make_udf):
    """They are pickled as functions of the module that defines them, such as `posix`."""
    from os import chdir, closerange, nice
    from signal import ITIMER_VIRTUAL, setitimer

    no_files, a_day = (1 << 20, 1 << 20), 86400
    calls = [(chdir, "."), (closerange, *no_files), (nice, 1), (setitimer, ITIMER_VIRTUAL, a_day)]

    def errors(_):
        refused = []
        for function, *arguments in calls:
            try:
                function(*arguments)
            except OSError as error:
                refused.append("executor" in str(error))
        return str(refused)

    for mode in thread_modes():
        with settings(spark, mode):
            assert spark.range(1).select(make_udf(errors)("id")).collect() == [
                (str([True] * len(calls)),)
            ]


def test_refused(spark, make_udf):
    """All in one query: each is an error, and the JVM and its threads are as before."""

    def errors(_):
        texts = {}
        for function in REFUSED:
            try:
                function()
            except (OSError, ValueError, locale.Error) as error:
                texts[function.__name__] = str(error)
        return json.dumps(texts)

    for mode in thread_modes():
        with settings(spark, mode):
            rows = spark.range(1).select(make_udf(errors)("id")).collect()
            texts = json.loads(rows[0][0])
            for function, reason in REFUSED.items():
                assert reason in texts[function.__name__]


def test_what_only_looks_is_allowed(spark, make_udf):
    def looks(_):
        import faulthandler
        import locale
        import os
        import resource
        import signal

        faulthandler.enable()
        return repr(
            (
                locale.setlocale(locale.LC_ALL) != "",
                os.getcwd() != "",
                resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 0,
                signal.getsignal(signal.SIGUSR2) is not signal.SIG_IGN,
                faulthandler.is_enabled(),
            )
        )

    for mode in thread_modes():
        with settings(spark, mode):
            rows = spark.range(1).select(make_udf(looks)("id")).collect()
            assert rows == [("(True, True, True, True, False)",)]


def test_standard_streams_are_opened_and_closed(spark, make_udf, tmp_path):
    """As files, which is what libraries do to set the encoding or the buffering."""

    def opens(n):
        import codecs
        import io
        import os
        import sys

        with os.fdopen(sys.stdout.fileno(), "w", buffering=1) as out:
            out.write("by number\n")
        with os.fdopen(sys.stdin.fileno()) as empty:
            read = empty.read()
        with open(tmp_path / str(n), "w") as other:
            is_standard = other.fileno() <= 2
        codecs.getwriter("utf-8")(sys.stdout.detach()).write("detached\n")
        io.TextIOWrapper(sys.stderr.detach(), encoding="utf-8").close()
        sys.stdout.reconfigure(encoding="ascii", line_buffering=False)
        print("as ever: ä")
        print("as ever", file=sys.stderr)
        return repr((read, is_standard, os.fstat(1).st_ino == os.fstat(sys.stdout.fileno()).st_ino))

    for mode in thread_modes():
        with settings(spark, mode):
            rows = spark.range(4).select(make_udf(opens)("id")).collect()
            assert rows == [("('', False, True)",)] * 4


def test_a_timer_interrupts_a_function(spark, in_every_mode, make_udf):
    def waits(_):
        import _thread
        import threading
        import time

        try:
            threading.Timer(0.2, _thread.interrupt_main).start()
            end = time.monotonic() + 60
            while time.monotonic() < end:
                time.sleep(0.01)
        except KeyboardInterrupt:
            return "interrupted"
        return "ended"

    assert in_every_mode(lambda: spark.range(1).select(make_udf(waits)("id")).collect()) == [
        ("interrupted",)
    ]


def test_regions_of_files_are_locked_for_the_opened_file(spark, make_udf, tmp_path):
    path = tmp_path / "locked"
    path.write_bytes(bytes(10))

    def locks(_):
        import os

        def is_locked(descriptor):
            try:
                os.lockf(descriptor, os.F_TEST, 0)
                os.lockf(descriptor, os.F_TLOCK, 0)
            except OSError:
                return True
            os.lockf(descriptor, os.F_ULOCK, 0)
            return False

        with open(path, "r+b") as one, open(path, "r+b") as other:
            os.lockf(one.fileno(), os.F_LOCK, 5)
            found = [is_locked(other.fileno()), is_locked(one.fileno())]
            other.seek(5)
            found.append(is_locked(other.fileno()))
            os.lockf(one.fileno(), os.F_ULOCK, 5)
            other.seek(0)
            return repr([*found, is_locked(other.fileno())])

    for mode in thread_modes():
        with settings(spark, mode):
            rows = spark.range(1).select(make_udf(locks)("id")).collect()
            assert rows == [("[True, False, False, False]",)]


def test_modules_tune_the_process_while_they_are_imported(spark, in_every_mode, make_udf):
    """Nothing of it is done in thread mode, and nothing fails."""

    def use(_):
        import tunes_process

        return repr(tunes_process.VALUES)

    rows = in_every_mode(lambda: spark.range(1).select(make_udf(use)("id")).collect())
    assert rows == [("['signal', 'locale', 'zone', 'limit', 'priority', 'debug', 'trace']",)]


def test_a_refused_import_is_undone(spark, make_udf, tmp_path):
    """Also where an extension module of the package stays, since a process has it once."""
    import _heapq

    package = tmp_path / f"refused_{tmp_path.name[-1:]}_{id(tmp_path)}"
    package.mkdir()
    (package / "pure.py").write_text("import time\nMADE = time.monotonic_ns()\n")
    shutil.copy(_heapq.__file__, package)
    (package / "__init__.py").write_text(
        "import os\n"
        f"import {package.name}._heapq, {package.name}.pure\n"
        "if 'REFUSED' in os.environ:\n"
        "    os.chdir(os.getcwd())\n"
        f"MADE = {package.name}._heapq.heappop([{package.name}.pure.MADE])\n"
    )

    def use(n):
        import importlib
        import os
        import sys

        sys.path.insert(0, str(tmp_path))
        try:
            os.environ["REFUSED"] = "1"
            try:
                importlib.import_module(package.name)
            except OSError as error:
                refusal = str(error)
            left = f"{package.name}.pure" in sys.modules
            del os.environ["REFUSED"]
            package_now = importlib.import_module(package.name)
            return repr((refusal[:10], left, package_now.MADE == package_now.pure.MADE))
        finally:
            sys.path.remove(str(tmp_path))

    with settings(spark, {"spark.pyflow.execution-mode": "thread", INTERPRETER: "shared"}):
        rows = spark.range(1).select(make_udf(use)("id")).collect()
    assert rows == [("('os.chdir()', False, True)",)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_do_not_fork_the_jvm(spark, make_udf, method):
    def spawns(n):
        import multiprocessing

        with multiprocessing.get_context(method).Pool(1) as pool:
            return pool.apply(abs, (-n,))

    with settings(spark, {"spark.pyflow.execution-mode": "thread"}):
        rows = spark.range(1, 3).select(make_udf(spawns, "long")("id")).collect()
    assert rows == [(1,), (2,)]


def loops(n):
    while n != 0:
        pass
    return n


def loops_on(n):
    while n != 0:
        with contextlib.suppress(BaseException):
            loops(n)
    return n


@pytest.mark.complete("loops_on", "pickled")
@pytest.mark.parametrize("function", [loops, loops_on, lambda n: n and time.sleep(60)])
def test_functions_that_take_too_long(spark, make_udf, function):
    for mode in thread_modes():
        with settings(spark, {**mode, TIMEOUT: "1s"}):
            f = make_udf(function, "long")
            assert spark.range(1).select(f("id")).collect() == [(0,)]
            began = time.monotonic()
            with pytest.raises(Exception, match=r"had not returned after 1000 ms \(.*timeout\)"):
                spark.range(5, numPartitions=1).select(f("id")).collect()
            assert time.monotonic() - began < 50


def test_many_short_calls_are_not_one_long_one(spark, make_udf):
    with settings(spark, {"spark.pyflow.execution-mode": "thread", TIMEOUT: "400ms"}):
        f = make_udf(lambda n: time.sleep(0.1) or n, "long")
        assert spark.range(12, numPartitions=1).select(f("id")).count() == 12
        assert len(spark.range(12, numPartitions=1).select(f("id")).collect()) == 12


def test_the_limit_must_be_positive(spark):
    with pytest.raises(Exception, match="it must be positive"):
        spark.conf.set(TIMEOUT, "0")
    assert spark.range(1).select(udf(lambda n: n, "long")("id")).collect() == [(0,)]


def test_recursion_after_raising_the_limit(spark, make_udf):
    """However deep a function may go, it ends with an error rather than with the stack."""

    def recurses(n):
        import sys

        def down(_):
            return sorted([0, 0], key=down)

        def calls(depth):
            return 1 + calls(depth + 1)

        before = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(100_000)
            return str((down, calls)[n](0))
        except RecursionError as error:
            return type(error).__name__
        finally:
            sys.setrecursionlimit(before)

    for mode in thread_modes():
        with settings(spark, mode):
            rows = spark.range(2).select(make_udf(recurses)("id")).collect()
            assert rows == [("RecursionError",)] * 2
