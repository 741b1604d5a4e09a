"""A context of keyed operators in memory, whose time the tests move.

State is pickled at each update, so that a value that is changed in place and not updated is found.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from contextlib import contextmanager
from typing import Any

from pyflow.datastream.functions import RuntimeContext
from pyflow.datastream.runtime.operator import MAX_WATERMARK, MIN_WATERMARK, KeyedContext
from pyflow.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)


class Kept:
    """State of the current key in a namespace."""

    def __init__(self, context, descriptor, namespace):
        self.context = context
        self.descriptor = descriptor
        self.place = (descriptor.get_name(), namespace)

    def load(self):
        return self.context.load(self.place)

    def store(self, value):
        self.context.store(self.place, value)

    def clear(self):
        self.store(None)


class MemoryValue(Kept, ValueState):
    def value(self):
        return self.load()

    def update(self, value):
        self.store(value)


class MemoryReducing(Kept, ReducingState):
    def get(self):
        return self.load()

    def add(self, value):
        before = self.load()
        reduce = self.descriptor.get_reduce_function().reduce
        self.store(value if before is None else reduce(before, value))


class MemoryAggregating(Kept, AggregatingState):
    def get(self):
        found = self.load()
        return None if found is None else self.descriptor.get_agg_function().get_result(found)

    def add(self, value):
        function, found = self.descriptor.get_agg_function(), self.load()
        self.store(function.add(value, function.create_accumulator() if found is None else found))


class MemoryList(Kept, ListState):
    def get(self):
        return iter(self.load() or [])

    def add(self, value):
        self.add_all([value])

    def add_all(self, values):
        self.store([*self.get(), *values])

    def update(self, values):
        self.store(list(values) or None)


class MemoryMap(Kept, MapState):
    def get(self, key):
        return (self.load() or {}).get(key)

    def contains(self, key):
        return key in (self.load() or {})

    def items(self):
        return list((self.load() or {}).items())

    def keys(self):
        return [key for key, _ in self.items()]

    def values(self):
        return [value for _, value in self.items()]

    def is_empty(self):
        return not self.items()

    def put(self, key, value):
        self.store({**(self.load() or {}), key: value})

    def put_all(self, dict_value):
        self.store({**(self.load() or {}), **dict_value})

    def remove(self, key):
        self.store({k: v for k, v in self.items() if k != key} or None)


STATES = {
    ValueStateDescriptor: MemoryValue,
    ReducingStateDescriptor: MemoryReducing,
    AggregatingStateDescriptor: MemoryAggregating,
    ListStateDescriptor: MemoryList,
    MapStateDescriptor: MemoryMap,
}


class MemoryTimers:
    def __init__(self, context):
        self.context = context
        # By the key: tuples of whether it is of event time, the time and the namespace.
        self.waiting = defaultdict(set)

    def register(self, is_event_time, time, namespace=b""):
        self.waiting[self.context.current_key].add((is_event_time, time, namespace))

    register_for_function = register

    def delete(self, is_event_time, time, namespace=b""):
        self.waiting[self.context.current_key].discard((is_event_time, time, namespace))

    def next(self, is_event_time, until):
        """Return the first timer that is due with its key, and remove it."""
        due = [
            (time, str(key), namespace, key)
            for key, timers in self.waiting.items()
            for of_event_time, time, namespace in timers
            if of_event_time == is_event_time and time <= until
        ]
        if not due:
            return None
        time, _, namespace, key = min(due)
        self.waiting[key].discard((is_event_time, time, namespace))
        return time, key, namespace


class Counters:
    """A metric group that has counters."""

    def __init__(self):
        self.counts = defaultdict(int)

    def counter(self, name):
        return Counter(self.counts, name)


class Counter:
    def __init__(self, counts, name):
        self.counts = counts
        self.name = name

    def inc(self, n=1):
        self.counts[self.name] += n


class MemoryContext(KeyedContext):
    """Runs an operator.

    Parameters
    ----------
    operator : Operator
        It is opened.
    key : callable, optional
        Makes the key of an element.
    metrics : bool
        Whether there are metrics.
    """

    def __init__(self, operator, key=lambda value: value[0], metrics=True):
        self.operator = operator
        self.select = key
        self.kept = defaultdict(dict)
        self.timers = MemoryTimers(self)
        self.current_key = None
        self.current_watermark = MIN_WATERMARK
        self.time = 0
        #: What has been emitted: values with their timestamps, and by the name of a side output.
        self.emitted: list[tuple[Any, int | None]] = []
        self.sides = defaultdict(list)
        self.emit = lambda value, timestamp: self.emitted.append((value, timestamp))
        self.emit_side = lambda tag, value, timestamp: self.sides[tag.tag_id].append(
            (value, timestamp)
        )
        self.metrics = Counters()
        self.runtime_context = RuntimeContext(
            self.metrics if metrics else None, {}, state=self.state
        )
        operator.open(self)

    def watermark(self):
        return self.current_watermark

    def processing_time(self):
        return self.time

    def key(self):
        return self.current_key

    def state(self, descriptor, namespace=b""):
        return STATES[type(descriptor)](self, descriptor, namespace)

    def load(self, place):
        found = self.kept[self.current_key].get(place)
        return None if found is None else pickle.loads(found)

    def store(self, place, value):
        if value is None:
            self.kept[self.current_key].pop(place, None)
        else:
            self.kept[self.current_key][place] = pickle.dumps(value)

    def process(self, value, timestamp=None, number=0):
        """Give the operator an element, and return what it emits."""
        with self._emissions() as emitted:
            self.current_key = self.select(value)
            self.operator.process(value, timestamp, number)
        return emitted

    def process_all(self, *elements):
        """Give the operator elements with their timestamps, and return what it emits."""
        return [each for value, timestamp in elements for each in self.process(value, timestamp)]

    def advance_watermark(self, to):
        """Move event time, fire timers, and return what is emitted."""
        self.current_watermark = to
        return self._fire(True, to)

    def advance_time(self, to):
        """Move processing time, fire timers, and return what is emitted."""
        self.time = to
        return self._fire(False, to)

    def end(self):
        """End the input, as if it was bounded, and return what is emitted."""
        return self.advance_watermark(MAX_WATERMARK)

    def names_of_state(self):
        """The names of all state that there is, of any key."""
        return sorted({name for places in self.kept.values() for name, _ in places})

    def count_of_timers(self):
        return sum(map(len, self.timers.waiting.values()))

    def _fire(self, is_event_time, until):
        with self._emissions() as emitted:
            while (timer := self.timers.next(is_event_time, until)) is not None:
                time, self.current_key, namespace = timer
                self.operator.on_timer(is_event_time, time, namespace)
        return emitted

    @contextmanager
    def _emissions(self):
        """The list of what is emitted meanwhile, filled at the end."""
        before = len(self.emitted)
        emitted = []
        yield emitted
        emitted += self.emitted[before:]
