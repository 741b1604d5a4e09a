"""What programs of the DataStream API have in common, and how they are registered."""

from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from pyflink.datastream import ProcessFunction, RuntimeExecutionMode, WindowFunction

PROGRAMS = {}

STREAMING, BATCH = RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH


def program(
    *modes,
    ordered=False,
    key=None,
    printed=False,
    parallelism=1,
    reference="process",
    fails=None,
    differs=None,
    results=None,
):
    """Registers a program: a function of an environment that returns a stream, or a list.

    Parameters
    ----------
    modes
        Runtime modes to run it in; both if none are named.
    ordered
        Whether the results have one order.
    key
        What makes, of a result, that among which results have one order.
    printed
        Whether what it prints is compared, too.
    parallelism
        Of the environment.
    reference
        Which execution mode of PyFlink is right in STREAMING, where they differ. In BATCH that is
        ``thread``: the other one loses the state of timers, or does not end.
    fails
        A part of the error of PyFlow, where PyFlink fails, too.
    differs
        Why PyFlow has other results.
    results
        Those of PyFlow, if they differ.
    """

    def register(function):
        PROGRAMS[function.__name__] = {
            "function": function,
            "modes": [mode.name for mode in modes or (STREAMING, BATCH)],
            "ordered": ordered,
            "key": key,
            "printed": printed,
            "parallelism": parallelism,
            "reference": reference,
            "fails": fails,
            "differs": differs,
            "results": results,
        }
        return function

    return register


def first(result):
    return result[0]


WORDS = ["to be", "or not", "", "to be that is"]
ORDERS = [("Alice", 5), ("Bob", 3), ("Alice", 7), ("Carol", 1), ("Bob", 3), ("Alice", -2)]
EVENTS = [
    *(("a", 1000, 1), ("b", 1500, 10), ("a", 4000, 2), ("a", 5000, 3), ("b", 9999, 20)),
    *(("a", 3000, 4), ("a", 12000, 5), ("b", 10000, 30)),
]
SALE = Types.TUPLE([Types.STRING(), Types.INT()])
EVENT = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class SecondFieldAsInteger(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value[1])


def timed(env, events=EVENTS, type_info=None):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_collection(events, type_info)
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))


class Processed(ProcessFunction):
    def process_element(self, value, ctx):
        if value == 1:
            return None
        if value == 2:
            return [value, value * 10]
        return (v for v in (value, None))


class Stamped(ProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], ctx.timestamp()


class Counted(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, len(list(inputs))
