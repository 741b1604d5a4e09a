"""What Python, numpy and pandas keep once per process, in two tasks at once."""

from __future__ import annotations

import pytest
from pyspark.sql.functions import udf

from comparison import process_mode, settings, thread_modes
from pairs import assert_same_in_pairs

pytestmark = pytest.mark.core

PYTHON = {}
LIBRARIES = {}
PYTORCH = {}
SCIENCE = {}
DUCKDB = {}
KERAS = {}


def python(function):
    PYTHON[function.__name__] = function
    return function


def libraries(function):
    LIBRARIES[function.__name__] = function
    return function


def pytorch(function):
    PYTORCH[function.__name__] = function
    return function


def science(function):
    SCIENCE[function.__name__] = function
    return function


def duckdb(function):
    DUCKDB[function.__name__] = function
    return function


def keras(function):
    KERAS[function.__name__] = function
    return function


@python
def random_seed(who, step):
    import random

    random.seed(who)
    numbers = []
    for _ in range(5):
        step()
        numbers.append(
            (
                random.random(),
                random.randint(0, 1000),
                random.choice("abc"),
                random.gauss(0, 1),
                random.getrandbits(20),
            )
        )
    return numbers


@python
def random_functions_by_name(who, step):
    from random import random, sample, seed, shuffle

    seed(who)
    numbers = list(range(10))
    step()
    shuffle(numbers)
    step()
    return numbers, random(), sample(numbers, 3)


@python
def random_state(who, step):
    import random

    random.seed(who)
    state = random.getstate()
    step()
    first = random.random()
    random.setstate(state)
    step()
    return first, random.random()


@python
def random_numbers_of_unseeded_tasks(who, step):
    import random

    step()
    return 0 <= random.random() < 1, len({random.random() for _ in range(20)})


@python
def redirect_stdout(who, step):
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        for n in range(3):
            step()
            print(who, n)
    step()
    return text.getvalue()


@python
def redirect_stderr(who, step):
    import contextlib
    import io
    import sys

    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        step()
        print(who, file=sys.stderr)
        step()
        sys.stderr.write("written")
    return text.getvalue()


@python
def nested_redirections(who, step):
    import contextlib
    import io

    outer, inner = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(outer):
        print("outer", who)
        step()
        with contextlib.redirect_stdout(inner):
            print("inner", who)
            step()
        print("outer again", who)
        step()
    return outer.getvalue(), inner.getvalue()


@python
def assigned_stdout(who, step):
    import io
    import sys

    before = sys.stdout
    sys.stdout = io.StringIO()
    try:
        step()
        print(who, end="")
        step()
        return sys.stdout.getvalue(), sys.stdout is not before
    finally:
        sys.stdout = before


@python
def stdout_of_threads(who, step):
    import contextlib
    import io
    import threading

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        step()
        thread = threading.Thread(target=print, args=(who,))
        thread.start()
        thread.join()
        step()
    return text.getvalue()


@python
def standard_input(who, step):
    import contextlib
    import io
    import sys

    before = sys.stdin
    sys.stdin = io.StringIO(f"line {who}\n")
    try:
        step()
        with contextlib.redirect_stdout(io.StringIO()):
            return input("? ")
    finally:
        sys.stdin = before


@python
def standard_input_is_empty(who, step):
    import sys

    return sys.stdin.read()


@python
def input_at_the_end(who, step):
    return input()


@python
def breakpoints(who, step):
    import contextlib
    import io
    import sys

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            breakpoint()
            step()
    except SystemExit as ended:  # bdb.BdbQuit before Python 3.14
        return f"exit {ended.code}"
    finally:
        sys.settrace(None)


@python
def standard_input_of_children(who, step):
    import os
    import subprocess
    import sys

    code = "import sys; print(repr(sys.stdin.read()))"
    step()
    return (
        subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout,
        subprocess.run([sys.executable, "-c", code], close_fds=False, capture_output=True).stdout,
        subprocess.run(["cat"], input=b"given", capture_output=True).stdout,
        os.system("cat"),
        os.popen("cat; echo done").read(),
    )


@python
def spawned_programs(who, step):
    import os

    read, write = os.pipe()
    pid = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", "cat; echo done"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)],
    )
    os.close(write)
    os.waitpid(pid, 0)
    text = os.read(read, 100)
    os.close(read)
    return text


@python
def environment_of_children(who, step):
    import os
    import subprocess

    os.environ["PAIR"] = str(who)
    try:
        step()
        return subprocess.run(["sh", "-c", "echo $PAIR"], capture_output=True).stdout
    finally:
        del os.environ["PAIR"]


@python
def reloaded_environment(who, step):
    import os

    os.environ["PAIR"] = str(who)
    step()
    if hasattr(os, "reload_environ"):  # 3.14
        os.reload_environ()
    step()
    try:
        return os.environ["PAIR"], os.environb[b"PAIR"], "PATH" in os.environ
    finally:
        del os.environ["PAIR"]


@python
def caught_warnings(who, step):
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(3):
            step()
            warnings.warn(f"{who} {n}", stacklevel=1)
        step()
    return [str(each.message) for each in caught]


@python
def warning_filters(who, step):
    import warnings

    before = warnings.filters[:]
    with warnings.catch_warnings():
        warnings.simplefilter("error" if who else "ignore")
        step()
        try:
            warnings.warn("a warning", stacklevel=1)
            result = "ignored"
        except UserWarning:
            result = "raised"
        step()
    return result, warnings.filters == before


@python
def warning_filters_in_threads(who, step):
    import threading
    import warnings

    results = []

    def warn():
        try:
            warnings.warn("a warning", stacklevel=1)
            results.append("ignored")
        except UserWarning:
            results.append("raised")

    def warn_in_thread():
        thread = threading.Thread(target=warn)
        thread.start()
        thread.join()

    with warnings.catch_warnings():
        warnings.simplefilter("error" if who else "ignore")
        step()
        warn_in_thread()
        step()
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter("ignore" if who else "error")
            step()
            warn_in_thread()
        step()
        warn_in_thread()
    return results


@python
def warnings_of_c_code(who, step):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error" if who else "ignore")
        step()
        try:
            return bool(~True)
        except DeprecationWarning:
            return "raised"


@python
def warnings_once_per_place(who, step):
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            step()
            warnings.warn("a warning", stacklevel=1)
        step()
    return len(caught)


@python
def shown_warnings(who, step):
    import warnings

    shown = []
    before = warnings.showwarning
    warnings.showwarning = lambda message, *rest: shown.append(str(message))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            step()
            warnings.warn(f"warning {who}", stacklevel=1)
            step()
        return shown
    finally:
        warnings.showwarning = before


@python
def decimal_context(who, step):
    import decimal

    results = []
    with decimal.localcontext() as context:
        context.prec = 5 + who
        step()
        results.append(str(decimal.Decimal(1) / 3))
    before = decimal.getcontext().prec
    decimal.getcontext().prec = 7 + who
    try:
        step()
        results.append(str(decimal.Decimal(1) / 3))
    finally:
        decimal.getcontext().prec = before
    return results


@python
def context_variables(who, step):
    import contextvars

    variable = contextvars.ContextVar("pair", default=None)
    variable.set(who)
    step()
    return variable.get()


@python
def socket_timeout(who, step):
    import socket

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(10 + who)
    try:
        step()
        with socket.socket() as made:
            return before, socket.getdefaulttimeout(), made.gettimeout()
    finally:
        socket.setdefaulttimeout(before)


@python
def garbage_collector(who, step):
    import gc

    before = gc.isenabled(), gc.get_threshold()
    (gc.disable if who else gc.enable)()
    gc.set_threshold(500 + who, 7, 7)
    try:
        step()
        gc.freeze()
        gc.unfreeze()
        return before[0], gc.isenabled(), gc.get_threshold()
    finally:
        gc.enable()
        gc.set_threshold(*before[1])


@python
def switch_interval(who, step):
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(0.25 + who)
    try:
        step()
        return before, sys.getswitchinterval()
    finally:
        sys.setswitchinterval(before)


@python
def recursion_limit(who, step):
    import sys

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 100 + who)
    try:
        step()
        return sys.getrecursionlimit() - before
    finally:
        sys.setrecursionlimit(before)


@python
def digits_of_numbers(who, step):
    import sys

    if not hasattr(sys, "set_int_max_str_digits"):
        return None
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(5000 * (1 - who))
    try:
        step()
        return before, sys.get_int_max_str_digits(), len(str(10**4900))
    finally:
        sys.set_int_max_str_digits(before)


@python
def field_sizes(who, step):
    import csv

    before = csv.field_size_limit(200_000 + who)
    try:
        step()
        return before, csv.field_size_limit(), len(next(csv.reader(["x" * 150_000]))[0])
    finally:
        csv.field_size_limit(before)


@python
def dialects(who, step):
    import csv
    import io

    csv.register_dialect("pair", delimiter=":;"[who])
    try:
        step()
        read = list(csv.DictReader(["a:b;c", "1:2;3"], dialect="pair"))
        text = io.StringIO()
        csv.writer(text, "pair").writerow([1, 2])
        return read, text.getvalue(), csv.list_dialects()
    finally:
        csv.unregister_dialect("pair")


@python
def trace_functions(who, step):
    import sys

    called = []

    def trace(frame, event, argument):
        called.append((who, frame.f_code.co_name))

    def traced():
        pass

    def profile(frame, event, argument):
        if frame.f_code.co_name == "traced":
            called.append((who, event))

    step()
    sys.settrace(trace)
    traced()
    sys.settrace(None)
    sys.setprofile(profile)
    traced()
    sys.setprofile(None)
    step()
    return [each for each in called if "traced" in each or each[1] in ("call", "return")]


@python
def hooks_of_threads(who, step):
    import threading

    seen = []
    before = threading.excepthook
    threading.excepthook = lambda arguments: seen.append((who, str(arguments.exc_value)))
    try:
        step()
        thread = threading.Thread(target=lambda: 1 // 0)
        thread.start()
        thread.join()
        step()
        return seen
    finally:
        threading.excepthook = before


@python
def arguments_of_the_program(who, step):
    import argparse
    import sys

    before = sys.argv
    sys.argv = ["program", "--who", str(who)]
    try:
        step()
        parser = argparse.ArgumentParser()
        parser.add_argument("--who")
        return parser.parse_args().who
    finally:
        sys.argv = before


@python
def temporary_directory(who, step):
    import os
    import tempfile

    made = tempfile.mkdtemp()
    tempfile.tempdir = made
    try:
        step()
        handle, path = tempfile.mkstemp()
        os.close(handle)
        os.unlink(path)
        return os.path.dirname(path) == made, tempfile.gettempdir() == made
    finally:
        tempfile.tempdir = None
        os.rmdir(made)


@python
def event_loop(who, step):
    import asyncio

    async def work():
        await asyncio.sleep(0.001)
        return who

    try:
        loop = asyncio.get_event_loop()
    except RuntimeError:  # 3.14 makes none
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    step()
    result = loop.run_until_complete(work()), asyncio.get_event_loop() is loop
    loop.close()
    asyncio.set_event_loop(asyncio.new_event_loop())
    step()
    return (*result, asyncio.get_event_loop().is_closed(), asyncio.run(work()))


@python
def event_loops_of_threads(who, step):
    import asyncio
    import threading

    failed = []

    def get():
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            failed.append(who)

    thread = threading.Thread(target=get)
    thread.start()
    thread.join()
    return failed


@python
def signal_masks(who, step):
    import signal

    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    step()
    blocked = signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return blocked, signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]) == before


@python
def asked_mask(who, step):
    import os

    mask = os.umask(0)
    os.umask(mask)
    step()
    return mask


@python
def locked_files(who, step):
    import fcntl
    import os
    import tempfile

    if who:
        step()
        return True
    path = os.path.join(tempfile.gettempdir(), "pyflow-pair-lock")
    with open(path, "w") as locked:
        fcntl.lockf(locked, fcntl.LOCK_EX)
        with open(path) as again:  # closing it would release the lock of a process
            again.read()
        fcntl.lockf(locked, fcntl.LOCK_UN)
    step()
    return True


@python
def current_locale(who, step):
    import locale

    now = locale.setlocale(locale.LC_NUMERIC)
    return locale.setlocale(locale.LC_NUMERIC, now) == now


@python
def profilers(who, step):
    import cProfile
    import pstats

    def work():
        return sum(map(abs, range(100)))

    profile = cProfile.Profile()
    step()
    profile.enable()
    work()
    step()
    profile.disable()
    names = {name for _, _, name in pstats.Stats(profile).stats}
    return "work" in names


@libraries
def numpy_seed(who, step):
    import numpy as np

    np.random.seed(who)
    numbers = []
    for _ in range(3):
        step()
        numbers.append(
            (
                np.random.rand(),
                np.random.randint(0, 1000),
                np.random.normal(),
                np.random.choice([1, 2, 3]),
                np.random.permutation(5).tolist(),
            )
        )
    return numbers


@libraries
def numpy_functions_by_name(who, step):
    from numpy.random import normal, random_sample, seed

    seed(who)
    step()
    return normal(size=2).tolist(), random_sample()


@libraries
def numpy_state(who, step):
    import numpy as np

    np.random.seed(who)
    state = np.random.get_state()
    step()
    first = np.random.random()
    np.random.set_state(state)
    step()
    return first, np.random.random()


@libraries
def numpy_global_generator(who, step):
    import numpy as np

    np.random.seed(who)
    step()
    generator = np.random.mtrand._rand
    return generator.uniform(), isinstance(generator, np.random.RandomState)


@libraries
def pandas_sample(who, step):
    import numpy as np
    import pandas as pd

    np.random.seed(who)
    step()
    return pd.Series(range(100)).sample(5).tolist()


@libraries
def numpy_errors(who, step):
    import numpy as np

    before = np.seterr(divide="raise" if who else "ignore")
    try:
        step()
        return str(np.float64(1) / np.float64(0))
    except FloatingPointError:
        return "raised"
    finally:
        np.seterr(**before)


@libraries
def numpy_errors_within(who, step):
    import numpy as np

    with np.errstate(divide="raise" if who else "ignore"):
        step()
        try:
            return str(np.array([1.0]) / np.array([0.0]))
        except FloatingPointError:
            return "raised"


@libraries
def numpy_warnings(who, step):
    import warnings

    import numpy as np

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            step()
            np.array([1.0 + who]) / np.array([0.0])
        step()
    return len(caught)


@libraries
def numpy_print_options(who, step):
    import numpy as np

    with np.printoptions(precision=2 + who):
        step()
        return str(np.array([1 / 3]))


@libraries
def pandas_options(who, step):
    import pandas as pd

    before = pd.get_option("display.max_rows")
    pd.set_option("display.max_rows", 10 + who)
    pd.options.display.precision = 2 + who
    try:
        step()
        return (
            before,
            pd.options.display.max_rows,
            pd.get_option("display.max_rows"),
            str(pd.Series([1 / 3])),
            len(str(pd.Series(range(100))).splitlines()),
        )
    finally:
        pd.reset_option("display.max_rows")
        pd.reset_option("display.precision")


@libraries
def pandas_options_within(who, step):
    import pandas as pd

    with pd.option_context("display.width", 100 + who, "display.max_columns", 3 + who):
        step()
        inside = pd.get_option("display.width"), pd.get_option("display.max_columns")
    step()
    return inside, pd.get_option("display.width")


@libraries
def faker_seed(who, step):
    import faker

    fake = faker.Faker()
    faker.Faker.seed(who)
    names = []
    for _ in range(5):
        step()
        names.append(fake.name())
    return names


@pytorch
def torch_seed(who, step):
    import torch

    torch.manual_seed(who)
    drawn = []
    for _ in range(5):
        step()
        drawn += torch.rand(2).tolist()
        drawn += torch.nn.functional.dropout(torch.ones(8)).tolist()
        drawn += torch.empty(2).normal_().tolist()
    step()
    return drawn, torch.randperm(10).tolist(), torch.initial_seed()


@pytorch
def torch_state(who, step):
    import torch

    torch.manual_seed(who)
    state = torch.get_rng_state()
    step()
    first = torch.rand(2).tolist()
    with torch.random.fork_rng(devices=[]):
        step()
        torch.manual_seed(7 + who)
        step()
        within = torch.rand(1).item()
    step()
    torch.set_rng_state(state)
    step()
    return first, within, torch.rand(2).tolist()


@pytorch
def torch_default_generator(who, step):
    import torch

    torch.default_generator.manual_seed(who)
    step()
    drawn = torch.rand(2).tolist()
    step()
    drawn += torch.rand(2, generator=torch.default_generator).tolist()
    return drawn, torch.default_generator.initial_seed()


@pytorch
def torch_training(who, step):
    import torch
    from torch.utils.data import DataLoader, TensorDataset, random_split

    torch.manual_seed(who)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(), torch.nn.Linear(4, 1))
    step()
    inputs = torch.randn(20, 3)
    chosen, _ = random_split(TensorDataset(inputs, inputs.sum(1, keepdim=True)), [16, 4])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch, wanted in DataLoader(chosen, batch_size=4, shuffle=True):
        step()
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(batch), wanted).backward()
        optimizer.step()
    return [value for each in model.parameters() for value in each.flatten().tolist()]


@pytorch
def torch_in_a_thread(who, step):
    import threading

    import torch

    torch.manual_seed(who)
    drawn = []
    step()
    thread = threading.Thread(target=lambda: drawn.extend(torch.rand(3).tolist()))
    thread.start()
    thread.join()
    step()
    return drawn, torch.rand(1).item()


@pytorch
def torch_of_unseeded_tasks(who, step):
    import torch

    step()
    return len(set(torch.rand(20).tolist())) > 1, torch.initial_seed() != who


@pytorch
def torch_default_type(who, step):
    import torch

    chosen = [torch.float64, torch.float16][who]
    before = torch.get_default_dtype()
    step()
    torch.set_default_dtype(chosen)
    try:
        step()
        made = torch.ones(2), torch.arange(3) / 2, torch.tensor(1j), torch.nn.Linear(1, 1).weight
        step()
        return str(before), torch.finfo().bits, [str(each.dtype) for each in made]
    finally:
        torch.set_default_dtype(before)


@pytorch
def torch_default_type_of_threads(who, step):
    import queue
    import threading

    import torch

    asked, told = queue.Queue(), queue.Queue()

    def tell():
        while asked.get():
            told.put(str((torch.arange(3) / 2).dtype))

    def ask():
        asked.put(True)
        return told.get()

    thread = threading.Thread(target=tell)
    thread.start()
    before = torch.get_default_dtype()
    try:
        step()
        seen = [ask()]
        step()
        if who:
            torch.set_default_dtype(torch.float64)
        step()
        seen.append(ask())
    finally:
        torch.set_default_dtype(before)
        asked.put(False)
        thread.join()
    step()
    return seen


@pytorch
def torch_forward_mode(who, step):
    import torch
    from torch.autograd import forward_ad
    from torch.func import jacfwd, jvp

    def squares(x):
        return x * x * (who + 1)

    at = torch.tensor([1.0, 2.0])
    step()
    results = []
    for _ in range(30):
        results.append(jvp(squares, (at,), (torch.ones(2),))[1].tolist())
        results.append(jacfwd(jacfwd(squares))(at).tolist())
        with forward_ad.dual_level():
            dual = squares(forward_ad.make_dual(at, torch.ones(2)))
            results.append(forward_ad.unpack_dual(dual).tangent.tolist())
    step()
    return results


@keras
def keras_names(who, step):
    import keras

    names = []
    for _ in range(3):
        keras.utils.clear_session()
        step()
        layers = [keras.layers.Dense(2), keras.layers.Dense(1), keras.layers.Dropout(0.5)]
        step()
        names += [each.name for each in [*layers, keras.layers.Dense(3)][who:]]
    step()
    keras.utils.clear_session()
    return names


@keras
def keras_types(who, step):
    import keras

    chosen = ["float32", "float64"][who]
    step()
    keras.config.set_floatx(chosen)
    keras.config.set_epsilon(0.1 + who)
    step()
    made = [keras.config.floatx(), keras.ops.ones(1).dtype, keras.layers.Dense(1).dtype]
    step()
    keras.config.set_dtype_policy(f"mixed_{['float16', 'bfloat16'][who]}")
    step()
    made += [keras.layers.Dense(1).compute_dtype, keras.config.epsilon()]
    step()
    keras.config.set_floatx("float32")
    keras.config.set_epsilon(1e-7)
    keras.config.set_dtype_policy("float32")
    return list(map(str, made))


@duckdb
def duckdb_tables(who, step):
    import duckdb

    duckdb.execute("create or replace table numbers (n integer)")
    step()
    duckdb.execute("insert into numbers values (?)", [who])
    step()
    duckdb.sql("select n + 10 from numbers")
    duckdb.execute("select n from numbers")
    step()
    found = duckdb.fetchall()
    step()
    duckdb.execute("drop table numbers")
    return found


@duckdb
def duckdb_frames(who, step):
    import pandas as pd
    from duckdb import sql

    frame = pd.DataFrame({"n": [who, 5]})  # noqa: F841  the query names it
    relation = sql("select sum(n) as total from frame")
    step()
    found = relation.fetchall()
    step()
    return found, sql("select max(n) from frame").fetchall()


@duckdb
def duckdb_default_connection(who, step):
    import duckdb

    duckdb.default_connection().execute("create or replace temp table own (n integer)")
    step()
    duckdb.connect(":default:").execute("insert into own values (?)", [who])
    step()
    found = duckdb.execute("select * from own").fetchall()
    with duckdb.connect() as other:
        step()
        other.execute("create table own (n integer)")
        found += duckdb.execute("select count(*) from own", connection=other).fetchall()
    duckdb.execute("drop table own")
    return found


@libraries
def pyplot_figures(who, step):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(7 + who)
    for n in range(3):
        step()
        pyplot.plot([n, who])
    step()
    drawn = [list(line.get_ydata()) for line in pyplot.gca().lines]
    found = pyplot.get_fignums(), pyplot.gcf() is figure, pyplot.fignum_exists(8 - who), drawn
    step()
    pyplot.close("all")
    return found, pyplot.get_fignums()


@libraries
def settings_of_matplotlib(who, step):
    import pickle

    import matplotlib
    from matplotlib import pyplot, rcParams

    sheets = "ggplot", "dark_background"

    def found():
        return (
            rcParams["font.size"],
            rcParams.get("axes.facecolor"),
            dict(rcParams)["axes.facecolor"],
            pickle.loads(pickle.dumps(rcParams))["font.size"],
            len(rcParams),
        )

    seen = [found()]
    with matplotlib.rc_context({"font.size": 20 + who}):
        step()
        seen.append(found())
        with pyplot.style.context(sheets[who]):
            step()
            seen.append(found())
    step()
    seen.append(found())
    pyplot.style.use(sheets[who])
    rcParams.update({"font.size": 30 + who})
    step()
    seen.append(found())
    seen.append(rcParams.copy()["font.size"])
    rcParams["font.sans-serif"].insert(0, f"font {who}")
    rcParams.__ior__({"lines.linewidth": 5.0 + who})
    other = matplotlib.RcParams()
    other._update_raw(rcParams)
    step()
    seen += [rcParams["font.sans-serif"][:2], rcParams["lines.linewidth"], other["font.size"]]
    pyplot.rcdefaults()
    rcParams["font.sans-serif"] = ["DejaVu Sans"]
    matplotlib.use("agg")
    step()
    seen.append(found())
    return seen, rcParams["backend"]


@science
def precision_of_mpmath(who, step):
    import mpmath
    from mpmath import iv, mp

    found = [str(mp.sqrt(2))]
    mp.dps = 30 + 10 * who
    iv.prec = 60 + 40 * who
    step()
    found += [str(mp.sqrt(2)), mp.prec, str(iv.sqrt(2)), iv.dps, str(mp.mpf(1) / 3)]
    with mpmath.workdps(100 + 50 * who):
        step()
        found += [str(+mp.pi), mp.dps]
    with mpmath.extradps(5):
        step()
        found += [str(mp.zeta(3 + who)), mp.dps]
    mp.dps, iv.dps = 15, 15
    return found


@science
def constants_of_mpmath(who, step):
    from mpmath import libmp

    found = []
    for bits in range(100 + who, 3000, 500):
        found += [f(bits) for f in (libmp.pi_fixed, libmp.euler_fixed, libmp.ln2_fixed)]
        step()
    return found


@science
def random_numbers_of_igraph(who, step):
    import random

    import igraph

    class NoBits:
        def __init__(self, seed):
            own = random.Random(seed)
            self.random, self.randint, self.gauss = own.random, own.randint, own.gauss

    found = []
    for _ in range(3):
        random.seed(who)
        step()
        graph = igraph.Graph.Barabasi(50, 2)
        found.append((graph.get_edgelist(), random.random()))
        random.seed(who)
        found.append(graph.community_multilevel().membership)
        step()
    for generator in (random.Random(10 + who), NoBits(10 + who)):
        igraph.set_random_number_generator(generator)
        step()
        found.append(igraph.Graph.Barabasi(50, 2).get_edgelist())
        step()
    igraph.set_random_number_generator(random)
    return found


@science
def options_of_xarray(who, step):
    import xarray

    values = xarray.DataArray([1, 2], attrs={"unit": "m"})
    found = []
    for _ in range(2):
        with xarray.set_options(keep_attrs=bool(who), display_width=50 + who):
            step()
            found.append(((values + 1).attrs, xarray.get_options()["display_width"]))
        step()
        found.append((values.mean().attrs, xarray.get_options()["display_width"]))
    return found


@pytest.mark.parametrize("cases", [PYTHON, LIBRARIES], ids=["python", "libraries"])
def test_pairs_of_tasks(spark, cases):
    assert_same_in_pairs(spark, cases)


def test_pairs_of_tasks_with_torch(spark):
    pytest.importorskip("torch", reason="it is too large for a requirement")
    assert_same_in_pairs(spark, PYTORCH)


def test_pairs_of_tasks_with_libraries_of_science(spark):
    for library in ("igraph", "mpmath", "xarray"):
        pytest.importorskip(library, reason="it is not distributed for this Python")
    assert_same_in_pairs(spark, SCIENCE)


def test_pairs_of_tasks_with_duckdb(spark):
    pytest.importorskip("duckdb", reason="it is not distributed for this Python")
    assert_same_in_pairs(spark, DUCKDB)


def test_what_a_module_does_with_the_default_connection_of_duckdb(spark):
    pytest.importorskip("duckdb", reason="it is not distributed for this Python")

    def uses(_):
        import duckdb
        import pandas as pd

        import uses_duckdb

        (number,) = uses_duckdb.doubled(pd.DataFrame({"n": [21]}))[0]
        ((zone,),) = duckdb.execute("select current_setting('TimeZone')").fetchall()
        return number, zone

    expected = ((42, "Asia/Tokyo"),)
    for mode in [process_mode(), *thread_modes()]:
        with settings(spark, mode):
            made = udf(uses, "struct<n int, zone string>")
            frame = spark.range(4, numPartitions=4).select(made("id"))
            assert frame.collect() == [expected] * 4


def test_what_a_module_sets_while_it_is_imported(spark):
    """All tasks find it, as if each had imported the module."""

    def uses(_):
        import decimal
        import warnings

        import sets_globals

        assert sets_globals.connection is not None
        try:
            warnings.warn("raised by a filter of a module", stacklevel=1)
            warned = "shown"
        except UserWarning:
            warned = "raised"
        return repr((decimal.getcontext().Emax, warned))

    expected = (repr((999_000, "raised")),)
    for mode in thread_modes():
        with settings(spark, mode):
            frame = spark.range(4, numPartitions=4).select(udf(uses)("id"))
            assert frame.collect() == [expected] * 4


def test_a_connection_that_a_module_keeps(spark):
    """Transactions of tasks at the same time do not mix."""

    def inserts(task):
        import time

        from sets_globals import connection

        connection.execute("begin")
        for n in range(10):
            connection.execute("insert into numbers values (?, ?)", (task, n))
            time.sleep(0.001)
        (count,) = connection.execute("select count(*) from numbers").fetchone()
        connection.execute("delete from numbers")
        connection.execute("commit")
        return count

    with settings(spark, thread_modes()[-1]):
        rows = spark.range(40, numPartitions=4).select(udf(inserts, "long")("id")).collect()
    assert rows == [(10,)] * 40


def test_libraries_see_how_many_threads_they_may_start(spark):
    def asks_c(_):
        import ctypes

        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        return getenv(b"OMP_NUM_THREADS").decode()

    for mode in [process_mode(), *thread_modes()]:
        with settings(spark, mode):
            assert spark.range(1).select(udf(asks_c)("id")).collect() == [("1",)]


def test_tracing_ends_with_the_calls_of_a_task(spark):
    """Two functions of one task run by turns on one thread."""

    def traces(n):
        import sys

        if n == 0:
            sys.setprofile(lambda *event: None)
        return str(sys.getprofile() is not None)

    def does_not(n):
        import sys

        return str(sys.getprofile() is not None)

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(3, numPartitions=1).select(
            udf(traces, useArrow=False)("id"), udf(does_not, useArrow=True)("id")
        )
        assert frame.collect() == [("True", "False")] * 3


def test_pairs_of_tasks_with_keras(spark):
    for library in ("keras", "tensorflow"):
        pytest.importorskip(library, reason="it is too large for a requirement")
    assert_same_in_pairs(spark, KERAS)
