"""The operators behind a shuffle, open in a subtask, with their state and timers.

What runs them is in ``keyed_stage.py``.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pyflow.datastream.runtime.chain import NO_TARGET, Chain, Node
from pyflow.datastream.runtime.contexts import ContextFactory
from pyflow.datastream.runtime.declared_states import DeclaredStates, description
from pyflow.datastream.runtime.keys import ByKey
from pyflow.datastream.runtime.life_cycle import close_at_last
from pyflow.datastream.runtime.operator import (
    MAX_WATERMARK,
    MIN_WATERMARK,
    WATERMARK_SHIFT,
    KeyedContext,
    Operator,
)
from pyflow.datastream.runtime.pickling import dumps
from pyflow.datastream.runtime.state import StateFactory, read_only
from pyflow.datastream.runtime.storage import (
    ABSENT,
    BroadcastStorage,
    Families,
    MemoryStorage,
    Storage,
    StoreKey,
    StoreStorage,
)
from pyflow.datastream.runtime.timers import (
    EVENT_TIME,
    PROCESSING_TIME,
    SWEEP,
    DueTimers,
    Timer,
    TimerIndex,
)
from pyflow.datastream.state import State, StateDescriptor
from pyflow.streaming.runtime.metrics import TaskMetricGroup
from pyflow.streaming.runtime.rows import in_sequence

__all__ = ["FIRST", "LAST", "Stage", "StageSpec", "TargetSpec", "passing"]

# Numbers of ControlRowsExec.scala.
FIRST = -(1 << 31)
LAST = (1 << 31) - 1

# What a subtask keeps beside the state of its keys.
_WATERMARK = b"watermark"
_STATES = b"states"
# Sweeps are rounded up to a part of their time to live, so that a key has few of them.
_SWEEPS = 4
# When a state is swept again that has not been declared, in milliseconds.
_SWEEP_AGAIN = 3_600_000
_NO_TIMERS: tuple[Sequence[Timer], bytes | None] = (), None


@dataclass(frozen=True)
class TargetSpec:
    """An operator of a stage.

    Parameters
    ----------
    selectors
        Of each input, what makes its keys; None where elements have none.
    """

    selectors: tuple[ByKey | None, ...]


@dataclass(frozen=True)
class StageSpec:
    """What runs in a stage.

    Parameters
    ----------
    job
        The identity of the job.
    number
        Of the stage.
    nodes
        All operators, by number. Those that are targets have operators with state.
    targets
        By the number of the operator. That of a broadcast input is its negative.
    width
        How many columns rows have for sinks.
    bounded
        Whether the input ends, and state is dropped with its key.
    fires_processing_time
        Whether timers of the processing time fire at the end of bounded input.
    contexts
        Makes what functions are opened with.
    watermark_shift
        By how many milliseconds the watermark of Spark is after that of the elements.
    """

    job: str
    number: int
    nodes: Mapping[int, Node]
    targets: Mapping[int, TargetSpec]
    width: int
    bounded: bool
    fires_processing_time: bool
    contexts: ContextFactory
    watermark_shift: int


def passing(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row for a later stage, in the order of the columns that are emitted."""
    target, key, number, moment, value, phase, *columns, sequence = row
    return (target, number, key, moment, value, None, phase, sequence, *columns)


class Stage:
    """The operators of a stage, open in a subtask.

    Attributes
    ----------
    takes_bundles : bool
        Whether keys may wait for others before they are processed.
    """

    takes_bundles = True

    def __init__(self, spec: StageSpec) -> None:
        self.failed = False
        self.is_bounded = spec.bounded
        self._fires_processing_time = spec.fires_processing_time
        self.watermark = MIN_WATERMARK
        self._watermark_shift = spec.watermark_shift
        self.clock = spec.contexts.clock
        self.metric_groups: list[TaskMetricGroup] = []
        subtask = spec.contexts.subtask()
        self.chain = Chain(
            spec.nodes,
            spec.width,
            functools.partial(spec.contexts.runtime_context, groups=self.metric_groups),
            subtask,
            self.clock,
            lambda: self.watermark,
        )
        self.storage: Storage = MemoryStorage() if spec.bounded else StoreStorage()
        # What was to come by the end of the batch: the watermark, and the processing time.
        self._reached = [MAX_WATERMARK, MAX_WATERMARK, MIN_WATERMARK]
        self._due = [DueTimers(), DueTimers()]
        self._due_by_key: dict[tuple[int, bytes], tuple[list[Timer], bytes]] = {}
        self.target = 0
        self.key = b""
        self.user_key: Any = None
        self._pickled_key: bytes | None = None
        names = {abs(target): spec.nodes[abs(target)].name for target in spec.targets}
        self.declared = DeclaredStates(names)
        self._contexts: dict[int, _Context] = {}
        self._operators: dict[int, Operator] = {}
        self._late_records_counted = 0
        self._selectors: dict[int, list[Callable[[Any], Any] | None]] = {}
        try:
            for target, described in spec.targets.items():
                self._open(target, described, spec)
        except BaseException:
            close_at_last(self.chain)
            raise

    def _open(self, target: int, described: TargetSpec, spec: StageSpec) -> None:
        for each in described.selectors:
            if each is not None:
                self.chain.open_functions(each.functions())
        self._selectors[target] = [
            None if each is None else each.selected() for each in described.selectors
        ]
        if target < 0:
            return
        node = spec.nodes[target]
        operator: Operator = node.operator
        is_keyed = any(each is not None for each in described.selectors)
        context = _Context(
            self, target, node.name, is_keyed or operator.is_keyed_by_itself, spec.contexts
        )
        context.emit, sides = self.chain.outputs(target)

        def emit_side(tag: Any, value: Any, timestamp: int | None) -> None:
            emit = sides.get(tag.tag_id)
            if emit is not None:
                emit(value, timestamp)

        context.emit_side = emit_side
        self.chain.opened(operator, node.name, lambda: operator.open(context))
        self._contexts[target] = context
        self._operators[target] = operator

    def close(self) -> None:
        """Close all operators; the first error is raised."""
        self.chain.close()

    def has(self, target: int) -> bool:
        """Whether an operator is in this stage."""
        return target in self._selectors

    # A batch of unbounded input.

    def bind(self, handle: Any, families: Families, index: TimerIndex) -> None:
        """Use the state of a task."""
        self._index = index
        self._client = handle._statefulProcessorApiClient
        assert isinstance(self.storage, StoreStorage)
        self.storage.bind(families)
        self.storage.forget()
        for context in self._contexts.values():
            context.bind(families)

    def begin(self, watermark: int) -> list[tuple[Any, ...]]:
        """The rows that come of the beginning of a batch; its watermark is as Spark has it."""
        reached = MIN_WATERMARK if watermark <= 0 else watermark - self._watermark_shift
        if reached >= WATERMARK_SHIFT:
            reached = MAX_WATERMARK
        before = self.storage.get(_WATERMARK)
        self._before = MIN_WATERMARK if before is ABSENT else before
        reached = self.held_back(reached)
        if not self.declared.is_loaded:
            stored = self.storage.get(_STATES)
            self.declared.load({} if stored is ABSENT else stored)
        self.storage.forget()
        now = self.clock()
        self._reached = [max(reached, self._before), now, now]
        self._due_by_key = {}
        for domain, until in enumerate(self._reached):
            self.find_due(domain, until)
        return []

    def held_back(self, watermark: int) -> int:
        """Return the watermark of this stage, of that of the sources."""
        return watermark

    def find_due(self, domain: int, until: int) -> None:
        """Take the timers out of the index that are due."""
        for timer, user_key in self._index.due(domain, until):
            self._index.remove(timer)
            timers, _ = self._due_by_key.setdefault((timer.target, timer.key), ([], user_key))
            timers.append(timer)

    def end(self) -> list[tuple[Any, ...]]:
        """The rows of timers of keys that have no rows; all state is written then."""
        self.fire_due()
        for context in self._contexts.values():
            context.flush()
        self.go_to_index()
        self.storage.forget()
        self.storage.put(_WATERMARK, self._reached[EVENT_TIME])
        declared = self.declared.written()
        if declared is not None:
            self.storage.put(_STATES, declared)
        self.storage.flush()
        self._index.flush()
        return self.chain.take()

    def late_records(self) -> int:
        """Return how many elements have been dropped since the last call, as they were late."""
        dropped = sum(each.late_records_dropped for each in self._operators.values())
        before, self._late_records_counted = self._late_records_counted, dropped
        return dropped - before

    def go_to_index(self) -> None:
        """Make the key current that the index of timers belongs to."""
        self._client.set_implicit_key((FIRST, b""))

    def fire_due(self) -> None:
        """Fire the timers that are due, of keys that have had no rows."""
        for (target, key), (timers, user_key) in list(self._due_by_key.items()):
            if target not in self._operators:
                continue
            self._client.set_implicit_key((target, key))
            self._begin_key(target, key, pickle.loads(user_key))
            self.chain.phase = 0
            self._guarded(None, functools.partial(self._fire, self._add_due(timers)))
            self.storage.flush()
        self._due_by_key = {}

    def at_key(self, key: tuple[int, bytes], work: Callable[[], None]) -> None:
        """Do something with the state of another key."""
        self._client.set_implicit_key(key)
        try:
            work()
        finally:
            self._client.set_implicit_key((self.target, self.key))

    # A key.

    def process_bounded(self, row: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The rows that come of one of bounded input: its columns, and its place last."""
        target, key = row[0], row[1]
        if key != self.key or target != self.target:
            if self.target in self._operators:
                self._guarded(None, self._operators[self.target].drain)
                self.watermark = MAX_WATERMARK
                self._guarded(None, self._fire)
                self.watermark = MIN_WATERMARK
            self.storage.flush()
            self._begin_key(target, bytes(key), None)
        if target in self._selectors:
            self._take(target, (row,))
        elif target not in (FIRST, LAST):
            self.chain.rows.append(passing(row))
        return self.chain.take()

    def process(
        self, target: int, key: bytes, rows: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """The rows that come of those of a key in a batch: its columns, and its place last."""
        self._begin_key(target, key, None)
        self._process_batch(target, key, rows)
        self.storage.flush()
        return self.chain.take()

    def process_bundle(
        self, groups: Sequence[tuple[StoreKey, list[tuple[Any, ...]]]]
    ) -> list[tuple[Any, ...]]:
        """The rows that come of those of many keys in a batch, in any order."""
        storage = self.storage
        assert isinstance(storage, StoreStorage)
        own = [key for key, _ in groups if key[0] in self._selectors]
        storage.begin_bundle(own, self._client.set_implicit_key)
        for (target, key), rows in groups:
            if target in self._selectors:
                storage.next_key((target, key))
                self._begin_key(target, key, None)
                self._process_batch(target, key, in_sequence(rows) if len(rows) > 1 else rows)
                storage.flush()
            elif target != NO_TARGET:
                self.chain.rows += map(passing, rows)
        storage.end_bundle()
        return self.chain.take()

    def _begin_key(self, target: int, key: bytes, user_key: Any) -> None:
        self.target, self.key, self.user_key = target, key, user_key
        self._pickled_key = None
        if self._has_due():
            self._due = [DueTimers(), DueTimers()]

    def _has_due(self) -> bool:
        event_timers, processing_timers = self._due
        return bool(event_timers.timers or processing_timers.timers)

    def _process_batch(self, target: int, key: bytes, rows: Sequence[tuple[Any, ...]]) -> None:
        early = [row for row in rows if row[5] == 0]
        late = [row for row in rows if row[5] != 0] if early else rows
        timers, user_key = _NO_TIMERS
        if self._due_by_key:
            timers, user_key = self._due_by_key.pop((target, key), _NO_TIMERS)
        if user_key is not None:
            self.user_key = pickle.loads(user_key)
        if early or timers:
            self.chain.phase = 0
            self.watermark = self._before
            # Elements before the watermark may delete them.
            sweeps = self._add_due(timers)
            self._take(target, early)
            self._guarded(None, self._operators[abs(target)].drain)
            if target > 0:
                self._guarded(None, lambda: self._fire(sweeps))
        self.chain.phase = 1
        self.watermark = self._reached[EVENT_TIME]
        self._take(target, late)
        self._guarded(None, self._operators[abs(target)].drain)
        if target > 0 and self._has_due():
            self._guarded(None, self._fire)

    def _take(self, target: int, rows: Iterable[tuple[Any, ...]]) -> None:
        """Have the operator process rows."""
        process = self._operators[abs(target)].process
        selectors = self._selectors[target]
        loads = pickle.loads
        value: Any = None
        is_first = self.user_key is None
        try:
            for row in rows:
                value = loads(row[4])
                number = row[2]
                if is_first:
                    select = selectors[number]
                    if select is not None:
                        self.user_key = select(value)
                    is_first = False
                process(value, row[3], number)
        except Exception as error:
            self.chain.fail(error, value)

    def _add_due(self, timers: Iterable[Timer]) -> list[Timer]:
        """Add timers of the key to those that are due; return the sweeps among them."""
        sweeps = []
        for timer in timers:
            if timer.domain == SWEEP:
                sweeps.append(timer)
            else:
                self._due[timer.domain].add(timer)
        return sweeps

    def _fire(self, sweeps: Iterable[Timer] = ()) -> None:
        """Have the operator called for timers that are due, and for those that it registers."""
        event_timers, processing_timers = self._due
        operator = self._operators[self.target]
        self.watermark = self._reached[EVENT_TIME]
        while True:
            timer_due = event_timers.pop(self._reached[EVENT_TIME])
            if timer_due is not None:
                operator.on_timer(True, timer_due.time, timer_due.namespace)
                continue
            if self.is_bounded and not self._fires_processing_time:
                break
            timer_due = processing_timers.pop(self._reached[PROCESSING_TIME])
            if timer_due is None:
                break
            operator.on_timer(False, timer_due.time, timer_due.namespace)
        for sweep in sweeps:
            if not self._contexts[self.target].factory.sweep(sweep.namespace):
                # A function may declare state with the first element that needs it.
                self.register(SWEEP, self._reached[PROCESSING_TIME] + _SWEEP_AGAIN, sweep.namespace)

    def _guarded(self, value: Any, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self.chain.fail(error, value)

    # Timers of the current key.

    @property
    def ends_batch(self) -> bool:
        """Whether the timers of a key fire because its elements have ended, in batch mode."""
        return self._fires_processing_time and self.watermark == MAX_WATERMARK

    def register(self, domain: int, at: int, namespace: bytes) -> None:
        """Register a timer of the current key."""
        timer = Timer(at, domain, self.target, self.key, namespace)
        if domain != SWEEP and at <= self._reached[domain]:
            self._due[domain].add(timer)
        elif not self.is_bounded:
            if self._pickled_key is None:
                self._pickled_key = dumps(self.user_key)
            self._index.put(timer, self._pickled_key)

    def delete(self, domain: int, at: int, namespace: bytes) -> None:
        """Delete a timer of the current key, if there is one."""
        timer = Timer(at, domain, self.target, self.key, namespace)
        if at <= self._reached[domain]:
            self._due[domain].discard(timer)
        else:
            self._index.remove(timer)


class _Timers:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def register(self, is_event_time: bool, time: int, namespace: bytes = b"") -> None:
        # Programs compute times as any numbers.
        domain = EVENT_TIME if is_event_time else PROCESSING_TIME
        self._stage.register(domain, int(time), namespace)

    def register_for_function(self, is_event_time: bool, time: int, namespace: bytes = b"") -> None:
        if not self._stage.ends_batch:
            self.register(is_event_time, time, namespace)

    def delete(self, is_event_time: bool, time: int, namespace: bytes = b"") -> None:
        domain = EVENT_TIME if is_event_time else PROCESSING_TIME
        self._stage.delete(domain, int(time), namespace)


class _Context(KeyedContext):
    """What an operator of a stage is opened with.

    Parameters
    ----------
    stage : Stage
    target : int
    name : str
    has_keyed_state : bool
        Whether its functions may have some.
    contexts : ContextFactory
    """

    def __init__(
        self,
        stage: Stage,
        target: int,
        name: str,
        has_keyed_state: bool,
        contexts: ContextFactory,
    ) -> None:
        self.name = name
        self.broadcast_names: Collection[str] = ()
        self.timers = _Timers(stage)
        self.factory = StateFactory(stage.storage, stage.clock, self._sweep, self._declare)
        self._stage = stage
        self._target = target
        self._broadcast: Storage = (
            MemoryStorage()
            if stage.is_bounded
            else BroadcastStorage(lambda work: stage.at_key((-target, b""), work))
        )
        self._broadcast_factory = StateFactory(
            self._broadcast, stage.clock, lambda _name, _at: None, self._declare_broadcast
        )
        self.runtime_context = contexts.runtime_context(
            name, stage.metric_groups, self.factory.state if has_keyed_state else None
        )

    def bind(self, families: Families) -> None:
        """Use the state of a task."""
        assert isinstance(self._broadcast, BroadcastStorage)
        self._broadcast.bind(families)

    def flush(self) -> None:
        """Write broadcast state."""
        self._broadcast.flush()

    def watermark(self) -> int:
        return self._stage.watermark

    def processing_time(self) -> int:
        return self._stage.clock()

    def key(self) -> Any:
        return self._stage.user_key

    def state(self, descriptor: StateDescriptor, namespace: bytes = b"") -> State:
        return self.factory.state(descriptor, namespace)

    def without_key(self) -> AbstractContextManager[None]:
        return self._stage.storage.without_key()

    def broadcast_state(self, descriptor: StateDescriptor, is_writable: bool) -> State:
        """Return the broadcast state of a descriptor.

        Raises
        ------
        ValueError
            If the broadcast stream was not made with it.
        """
        if descriptor.get_name() not in self.broadcast_names:
            raise ValueError(
                f"The requested state does not exist: the broadcast stream has no descriptor "
                f"'{descriptor.get_name()}', but {sorted(self.broadcast_names)}."
            )
        state = self._broadcast_factory.state(descriptor)
        return state if is_writable else read_only(state)

    def _declare(self, descriptor: StateDescriptor) -> None:
        name = descriptor.get_name()
        self._stage.declared.declare(self._target, name, description(descriptor))

    def _declare_broadcast(self, descriptor: StateDescriptor) -> None:
        """Keyed state of the same name is another one."""
        name = f"{descriptor.get_name()} (broadcast)"
        self._stage.declared.declare(self._target, name, description(descriptor))

    def _sweep(self, name: bytes, at: int) -> None:
        now = self.processing_time()
        step = max((at - now) // _SWEEPS, 1)
        self._stage.register(SWEEP, -(-at // step) * step, name)
