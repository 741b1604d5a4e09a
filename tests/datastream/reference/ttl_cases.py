"""What state with a time to live answers: a program that both PyFlink and PyFlow run.

Its elements are calls of a state, made by chance. Between them time passes; in PyFlink the program
sleeps. Each state is called alike with each update type and visibility. Expired values are not
cleaned up in the background, so that it is known what is still there.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

#: In milliseconds. Elements come at sums of the others: never shortly before the time has passed.
TTL = 2000
_PASSED = [700, 900, 1600, 2300]

_KINDS = ["value", "list", "map", "reducing", "aggregating"]
_SEED = 7
_ROUNDS = 14
_CALLS_OF_A_ROUND = 3

#: The call that lets time pass, in milliseconds.
SLEEP = "sleep"

#: The name of a state, the method, and its arguments.
Call = tuple[str, str, list[Any]]


def _call(chance: random.Random, kind: str, number: int) -> tuple[str, list[Any]]:
    key = chance.choice("xy")
    calls: dict[str, list[tuple[str, list[Any]]]] = {
        "value": [("value", []), ("value", []), ("update", [number]), ("clear", [])],
        "list": [
            *2 * [("get", [])],
            *2 * [("add", [number])],
            *(("add_all", [[number, number + 1]]), ("update", [[number]]), ("clear", [])),
        ],
        "map": [
            *2 * [("get", [key]), ("put", [key, number]), ("contains", [key]), ("items", [])],
            *(("keys", []), ("values", []), ("is_empty", []), ("remove", [key]), ("clear", [])),
        ],
        "reducing": [*2 * [("get", []), ("add", [number])], ("clear", [])],
        "aggregating": [*2 * [("get", []), ("add", [number])], ("clear", [])],
    }
    return chance.choice(calls[kind])


def calls() -> list[Call]:
    """Return all calls, in their order."""
    chance = random.Random(_SEED)
    found: list[Call] = []
    for number in range(_ROUNDS):
        for kind in _KINDS:
            for _ in range(_CALLS_OF_A_ROUND):
                found.append((kind, *_call(chance, kind, number)))
        found.append(("", SLEEP, [chance.choice(_PASSED)]))
    return found


def function_of(f: SimpleNamespace) -> Any:
    """Return the function of a keyed stream of calls; it emits what they return."""

    class Total(f.AggregateFunction):
        def create_accumulator(self):
            return (0, 0)

        def add(self, value, accumulator):
            return (accumulator[0] + 1, accumulator[1] + value)

        def get_result(self, accumulator):
            return accumulator

        def merge(self, acc_a, acc_b):
            return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])

    class Calls(f.KeyedProcessFunction):
        def open(self, runtime_context):
            self.states = {}
            of = f.StateTtlConfig
            for update in (of.UpdateType.OnCreateAndWrite, of.UpdateType.OnReadAndWrite):
                for seen in (
                    of.StateVisibility.NeverReturnExpired,
                    of.StateVisibility.ReturnExpiredIfNotCleanedUp,
                ):
                    config = (
                        of.new_builder(f.Time.milliseconds(TTL))
                        .set_update_type(update)
                        .set_state_visibility(seen)
                        .disable_cleanup_in_background()
                        .build()
                    )
                    name = f"{update.name} {seen.name}"
                    for kind, state in self.made(runtime_context, config, name):
                        self.states.setdefault(kind, []).append((name, state))

        def made(self, context, config, name):
            number_type = f.Types.LONG()
            descriptors = {
                "value": f.ValueStateDescriptor(f"value {name}", number_type),
                "list": f.ListStateDescriptor(f"list {name}", number_type),
                "map": f.MapStateDescriptor(f"map {name}", f.Types.STRING(), number_type),
                "reducing": f.ReducingStateDescriptor(
                    f"reducing {name}", lambda a, b: a + b, number_type
                ),
                "aggregating": f.AggregatingStateDescriptor(
                    f"aggregating {name}", Total(), f.Types.PICKLED_BYTE_ARRAY()
                ),
            }
            for kind, descriptor in descriptors.items():
                descriptor.enable_time_to_live(config)
                get = "get_state" if kind == "value" else f"get_{kind}_state"
                yield kind, getattr(context, get)(descriptor)

        def process_element(self, value, ctx):
            kind, method, arguments = value
            if method == SLEEP:
                import time

                time.sleep(arguments[0] / 1000)
                return
            for name, state in self.states[kind]:
                found = getattr(state, method)(*arguments)
                if method in ("items", "keys", "values") or (kind, method) == ("list", "get"):
                    found = list(found) if found is not None else []
                if method in ("items", "keys", "values"):
                    found = sorted(found)
                yield f"{name} {kind}.{method}{tuple(arguments)}: {found}"

    return Calls()
