"""Programs that go on from a checkpoint of another version of them."""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.datastream import AggregateFunction, CoMapFunction, KeyedProcessFunction
from pyflow.datastream.connectors.file_system import FileSource, StreamFormat
from pyflow.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from pyflow.datastream.connectors.number_seq import NumberSequenceSource
from pyflow.datastream.evictors import CountEvictor
from pyflow.datastream.formats.json import JsonRowDeserializationSchema
from pyflow.datastream.graph.components import components
from pyflow.datastream.graph.fitting import fitted, places_of
from pyflow.datastream.graph.manifest import IncompatibleProgramError, Manifest
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import CountTrigger, TumblingEventTimeWindows

NOTHING = WatermarkStrategy.no_watermarks()


# What a manifest says of programs. A program is a function of an environment; what it names is
# known by that in the checkpoint.


def kafka(*topics):
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW([Types.INT()])).build()
    builder = KafkaSource.builder().set_bootstrap_servers("localhost:9").set_topics(*topics)
    starting = KafkaOffsetsInitializer.earliest()
    return builder.set_starting_offsets(starting).set_value_only_deserializer(schema).build()


def files(path):
    text = StreamFormat.text_line_format()
    return (
        FileSource.for_record_stream_format(text, path)
        .monitor_continuously(Duration.of_seconds(1))
        .build()
    )


class Program:
    """A program whose sources and operators have names, by which tests know them."""

    def __init__(self, env):
        self.env = env
        self.names = {}

    def read(self, source, name=None, uid=None):
        stream = self.env.from_source(source, NOTHING, "source")
        return self.named(stream if uid is None else stream.uid(uid), name or source.reads)

    def named(self, stream, name):
        self.names[stream._transformation.number] = name
        return stream

    def total(self, stream, name, uid=None):
        made = stream.key_by(lambda value: value).reduce(lambda one, other: one)
        return self.named(made if uid is None else made.uid(uid), name)

    def component(self):
        (found,) = self.components()
        return found

    def components(self):
        return components(self.env._sinks)


def fit(env, build, before=None, ignores=False):
    """What a program is, in a checkpoint: its manifest, and the names of sources and operators."""
    program = Program(env)
    build(program)
    found = fitted(program.component(), 2, before, ignores)
    sources = [program.names[number] for number in found.sources]
    operators = {found.numbers[number]: program.names[number] for number in found.numbers}
    # As it is written and read.
    manifest = Manifest.from_json(json.loads(json.dumps(found.manifest.to_json())))
    assert manifest == found.manifest
    return manifest, sources, operators


def two_topics(program):
    one, other = program.read(kafka("a")), program.read(kafka("b"))
    program.total(one, "of a").print()
    program.total(other, "of b").union(one).print()


def two_topics_printed(program):
    one, other = program.read(kafka("a")), program.read(kafka("b"))
    other.print()
    program.total(one, "of a").print()
    program.total(other.map(lambda value: value), "of b").union(one).print()


def two_topics_the_other_way(program):
    other, one = program.read(kafka("b")), program.read(kafka("a"))
    program.total(other, "of b").union(one).print()
    program.total(one, "of a").print()


def two_topics_and_more(program):
    one, other = program.read(kafka("a")), program.read(kafka("b"))
    program.total(other, "new", uid="new").print()
    program.total(one, "of a").print()
    program.total(other, "of b").union(one).print()


def one_reads_more(program):
    other, one = program.read(kafka("c", "b"), "subscribe b"), program.read(kafka("a"))
    program.total(other, "of b").union(one).print()
    program.total(one, "of a").print()


@pytest.mark.parametrize(
    "changed", [two_topics_printed, two_topics_the_other_way, two_topics_and_more, one_reads_more]
)
def test_sources_and_operators_are_found_wherever_they_stand(make_env, changed):
    before, sources, operators = fit(make_env(), two_topics)
    _, now, found = fit(make_env(), changed, before)
    assert now == sources == ["subscribe a", "subscribe b"]
    assert {number: found[number] for number in operators} == operators
    assert len(found) - len(operators) == (changed is two_topics_and_more)


def both_read_more(program):
    one, other = program.read(kafka("a", "b")), program.read(kafka("b", "c"))
    program.total(one, "of a").union(other).print()


def one_is_another(program):
    other, one = program.read(kafka("b2"), "subscribe b"), program.read(kafka("a"))
    program.total(other, "of b").union(one).print()
    program.total(one, "of a").print()


def another_kind(program):
    one, other = program.read(kafka("a")), program.read(files("file:///b"))
    program.total(one, "of a").print()
    program.total(other, "of b").union(one.map(str)).print()


def two_of_one(program):
    one, other = program.read(kafka("a")), program.read(kafka("b"))
    program.total(one, "of a").print()
    program.total(one, "of a, too").print()
    program.total(other, "of b").union(one).print()


def one_of_two(program):
    one, other = program.read(kafka("a")), program.read(kafka("b"))
    program.total(one, "of a").union(other).print()


def one_source(program):
    program.total(program.read(kafka("a")), "of a").print()


def one_more_shuffle(program):
    one, other = program.read(kafka("a")), program.read(kafka("b"))
    program.total(program.total(one, "of a"), "again").union(other).print()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        (both_read_more, "or it is not known which: .*subscribe a,b.*subscribe b,c"),
        (one_is_another, "none of the checkpoint's.*KafkaSource of subscribe b2. .*subscribe b"),
        (
            another_kind,
            r"sources.*FileSource of file:///b\. .*subscribe b",
        ),
        (two_of_one, "this program has 2 operators 'Keyed Reduce'.*the checkpoint has 1"),
        (one_of_two, "has state of operators that this program does not have: 'Keyed Reduce'"),
        (one_source, "a program with 2 sources, and this one has 1"),
        (one_more_shuffle, "a program with 1 stages behind shuffles, and this one has 2"),
    ],
)
def test_what_cannot_be_told_is_refused(make_env, changed, error):
    before, _, _ = fit(make_env(), two_topics)
    with pytest.raises(IncompatibleProgramError, match=error):
        fit(make_env(), changed, before)


def with_uids(topic, uid, of_source):
    def program(made):
        source = made.read(kafka(topic), "source", uid=of_source)
        made.total(source, "total", uid=uid).print()

    return program


@pytest.mark.parametrize("uid", ["orders", None])
def test_a_source_reads_no_less_than_before(make_env, uid):
    """Spark has no offsets of another topic, and takes no other files for those of before."""
    before, _, _ = fit(make_env(), with_uids("a", "total", uid))
    with pytest.raises(IncompatibleProgramError, match=r"none of the checkpoint's.*subscribe b"):
        fit(make_env(), with_uids("b", "total", uid), before)


def test_an_operator_that_was_given_up_begins_anew(make_env):
    first, _, _ = fit(make_env(), with_uids("a", "one", None))
    second, _, operators = fit(make_env(), with_uids("a", "other", None), first, ignores=True)
    assert operators == {2: "total"}
    _, _, operators = fit(make_env(), with_uids("a", "one", None), second, ignores=True)
    assert operators == {3: "total"}


class Longest(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return max(value, accumulator, key=len)

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return max(acc_a, acc_b, key=len)


def windows(kind):
    def program(made):
        keyed = made.read(files("file:///a")).key_by(len)
        if kind == "counted, own trigger":
            found = keyed.count_window(2).trigger(CountTrigger.of(2))
        elif kind == "counted":
            found = keyed.count_window(2)
        else:
            found = keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
        if kind == "evicted":
            found = found.evictor(CountEvictor.of(2))
        stream = found.aggregate(Longest()) if kind == "aggregated" else found.reduce(max)
        made.named(stream.uid("windows"), "windows").print()

    return program


@pytest.mark.parametrize(
    ("kind", "changed"),
    [("reduced", "aggregated"), ("reduced", "evicted"), ("counted", "counted, own trigger")],
)
def test_windows_that_keep_something_else_are_refused(make_env, kind, changed):
    before, _, _ = fit(make_env(), windows(kind))
    with pytest.raises(IncompatibleProgramError, match=r"'Window.*uid windows.*another operation"):
        fit(make_env(), windows(changed), before)


def of_older_version(names, sources=1):
    """A manifest as it was before it said what sources read, and where operators stand."""
    return Manifest.from_json(
        {
            "parallelism": 2,
            "sources": [f"position {place}" for place in range(1, sources + 1)],
            "operators": {
                name: {"number": number, "stage": 1, "name": operation, "operation": operation}
                for number, (name, operation) in enumerate(names.items(), 1)
            },
        }
    )


def test_checkpoints_of_older_versions_are_known_by_position(make_env):
    before = of_older_version({"position 1": "Keyed Reduce", "position 2": "Keyed Reduce"}, 2)
    after, sources, operators = fit(make_env(), two_topics, before)
    assert (sources, operators) == (["subscribe a", "subscribe b"], {1: "of a", 2: "of b"})
    _, now, found = fit(make_env(), two_topics_printed, after)
    assert (now, found) == (sources, operators)


def test_windows_of_older_versions_go_on(make_env):
    before = of_older_version({"uid windows": "Window(TumblingEventTimeWindows)"})
    _, _, operators = fit(make_env(), windows("aggregated"), before)
    assert operators == {1: "windows"}
    before = of_older_version({"uid windows": "Window(SlidingEventTimeWindows)"})
    with pytest.raises(IncompatibleProgramError, match="of another operation"):
        fit(make_env(), windows("aggregated"), before)


def several(*topics):
    def program(made):
        for topic in topics:
            made.total(made.read(kafka(topic)), topic).print()

    return program


def queries(env, build):
    program = Program(env)
    build(program)
    return {number: fitted(each, 2).manifest for number, each in enumerate(program.components())}


@pytest.mark.parametrize(
    ("topics", "places"),
    [
        (("a", "b"), {0: 0, 1: 1}),
        (("b", "a"), {0: 1, 1: 0}),
        (("new", "a", "b"), {0: 2, 1: 0, 2: 1}),
        # One alone may read something else, as far as is known here.
        (("a", "b2"), {0: 0, 1: 1}),
    ],
)
def test_queries_are_found_wherever_they_stand(make_env, topics, places):
    kept = queries(make_env(), several("a", "b"))
    assert places_of(queries(make_env(), several(*topics)), kept, kept, False) == places


def test_a_program_without_one_of_its_queries_is_refused(make_env):
    kept = queries(make_env(), several("a", "b"))
    found = queries(make_env(), several("b"))
    with pytest.raises(IncompatibleProgramError, match="operators that this program does not have"):
        places_of(found, kept, kept, False)
    assert places_of(found, kept, kept, True) == {0: 1}


def test_a_second_query_over_one_topic_does_not_take_the_first_ones_state(make_env):
    kept = queries(make_env(), several("a"))
    with pytest.raises(IncompatibleProgramError, match="2 queries with the same operators over"):
        places_of(queries(make_env(), several("a", "a")), kept, kept, False)


def test_queries_over_one_topic_are_known_by_what_they_do(make_env):
    def reduced(made):
        made.total(made.read(kafka("a")), "total").print()

    def counted(made):
        keyed = made.read(kafka("a")).key_by(lambda value: value)
        made.named(keyed.count_window(2).reduce(max), "windows").print()

    def both(*parts):
        return lambda made: [part(made) for part in parts]

    kept = queries(make_env(), both(reduced, counted))
    found = queries(make_env(), both(counted, reduced))
    assert places_of(found, kept, kept, False) == {0: 1, 1: 0}


def test_a_query_that_has_not_committed_has_its_place(make_env):
    kept = queries(make_env(), several("a", "a"))
    assert places_of(kept, kept, {0}, False) == {0: 0, 1: 1}


def of_uid(topic, uid):
    return lambda made: made.total(made.read(kafka(topic), "source", uid=uid), "total").print()


def test_a_source_with_another_uid_is_another_one(make_env):
    before, _, _ = fit(make_env(), of_uid("a", "orders"))
    with pytest.raises(IncompatibleProgramError, match=r"subscribe b \(uid clicks\)"):
        fit(make_env(), of_uid("b", "clicks"), before)
    kept = queries(make_env(), of_uid("a", "orders"))
    found = queries(make_env(), of_uid("b", "clicks"))
    assert places_of(found, kept, kept, True) == {0: 1}


def test_operators_of_one_kind_are_known_by_their_functions(make_env):
    class First(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value

    class Second(First):
        pass

    class Third(First):
        pass

    def program(*functions):
        def build(made):
            keyed = made.read(kafka("a")).key_by(lambda value: value)
            for each in functions:
                made.named(keyed.process(each()), each.__name__).print()

        return build

    before, _, operators = fit(make_env(), program(First, Second))
    assert operators == {1: "First", 2: "Second"}
    assert fit(make_env(), program(Second, First), before)[2] == operators
    assert fit(make_env(), program(Third, Second, First), before)[2] == {**operators, 3: "Third"}
    with pytest.raises(IncompatibleProgramError, match="operators that this program does not have"):
        fit(make_env(), program(Second, Third), before)
    with pytest.raises(
        IncompatibleProgramError, match=r"2 operators .* of .*First.* checkpoint has 1"
    ):
        fit(make_env(), program(First, First, Second), before)
    # One alone may get a function of another name.
    before, _, operators = fit(make_env(), program(First))
    assert fit(make_env(), program(Second), before)[2] == {1: "Second"}


def test_the_order_of_equal_sources_is_that_in_which_they_were_made(make_env):
    """An older version had them in the order of the graph."""

    def build(made):
        one, other = made.read(kafka("a"), "one"), made.read(kafka("a"), "other")
        made.total(other.union(one), "total").print()

    before = of_older_version({"position 1": "Keyed Reduce"}, sources=2)
    after, sources, _ = fit(make_env(), build, before)
    assert sources == ["other", "one"]
    assert fit(make_env(), build, after)[1] == sources


def test_what_older_versions_appended_keeps_its_position(make_env):
    """They wrote new operators at the end, whatever their position."""

    def build(made):
        keyed = made.read(kafka("a")).key_by(lambda value: value)
        made.named(keyed.reduce(max), "reduced").print()
        made.named(keyed.count_window(2).reduce(max), "windows").print()

    written = "Window(CountTumblingWindowAssigner)"
    before = of_older_version({"position 2": written, "position 1": "Keyed Reduce"})
    before = replace(
        before,
        operators=tuple(
            replace(each, name=f"{written[:-1]}, Reduce)") if "Window" in each.name else each
            for each in before.operators
        ),
    )
    assert fit(make_env(), build, before)[2] == {2: "reduced", 1: "windows"}


# Programs that run.


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


class Sum(KeyedProcessFunction):
    """The sum of a key, and a timer at the end of time."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        yield value[0], self.sum.value()


def sums(env, source, uid="sums"):
    stream = env.from_source(source, NOTHING, "test").key_by(lambda value: value[0])
    return stream.process(Sum()).uid(uid)


class Tagged(CoMapFunction):
    def map1(self, value):
        return "one", value

    def map2(self, value):
        return "other", value


@pytest.mark.complete
def test_a_print_that_is_added_leaves_sources_where_they_were(make_env, tmp_path, capsys):
    one = TestStream().add_elements([1]).add_elements([2]).add_elements([3])
    other = TestStream().add_elements([10])
    name = f"prints {uuid.uuid4()}"

    def run(prints):
        env = make_env(parallelism=1, execution_checkpointing_dir=tmp_path.as_uri())
        first = env.from_source(one, NOTHING, "one")
        second = env.from_source(other, NOTHING, "other")
        if prints:
            second.print()
        first.connect(second).map(Tagged()).print()
        env.execute(name)
        return sorted(capsys.readouterr().out.splitlines())

    assert run(False) == ["('one', 1)", "('one', 2)", "('one', 3)", "('other', 10)"]
    one.add_elements([4])
    other.add_elements([20])
    assert run(True) == ["('one', 4)", "('other', 20)", "20"]


@pytest.mark.complete
def test_queries_that_change_their_order_keep_their_state(make_env, tmp_path, capsys):
    one = TestStream().add_elements([("a", 1)])
    other = TestStream().add_elements([("b", 10)])
    name = f"queries {uuid.uuid4()}"

    def run(*programs):
        env = make_env(parallelism=1, execution_checkpointing_dir=tmp_path.as_uri())
        for source, uid in programs:
            sums(env, source, uid).print()
        env.execute(name)
        return sorted(capsys.readouterr().out.splitlines())

    assert run((one, "one"), (other, "other")) == ["('a', 1)", "('b', 10)"]
    one.add_elements([("a", 2)])
    other.add_elements([("b", 20)])
    assert run((other, "other"), (one, "one")) == ["('a', 3)", "('b', 30)"]


def failing(value):
    raise ValueError("this program is wrong")


def test_a_changed_program_that_never_commits_leaves_the_checkpoint_to_the_one_before(
    make_env, tmp_path
):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()}
    source = TestStream().add_elements([("a", 1)])
    assert collected(sums(make_env(**settings), source)) == [("a", 1)]
    source.add_elements([("a", 2)])
    changed = make_env(**settings, execution_savepoint_ignore__unclaimed__state="true")
    with pytest.raises(Exception, match="this program is wrong"):
        collected(sums(changed, source, "another").map(failing))
    # The program before is not without its state, nor has that of the other.
    assert collected(sums(make_env(**settings), source)) == [("a", 3)]


@pytest.mark.complete
def test_what_was_planned_and_not_committed_is_read_by_no_other_program(make_env, tmp_path):
    settings = {"execution_checkpointing_dir": (tmp_path / "checkpoints").as_uri()}

    def run(source, is_wrong=False):
        env = make_env(**settings)
        elements = env.from_source(source, NOTHING, "test").uid("elements")
        keyed = elements.key_by(lambda value: value[0])
        total = keyed.process(Sum()).uid("sums")
        return collected(total.map(failing) if is_wrong else total)

    with pytest.raises(Exception, match="this program is wrong"):
        run(TestStream().add_elements([("a", 100)]), is_wrong=True)
    assert run(TestStream().add_elements([("a", 1)])) == [("a", 1)]


class History:
    """A program whose query has bounded sources beside an unbounded one."""

    def __init__(self, make_env, tmp_path):
        self.make_env, self.root = make_env, tmp_path
        self.lines = tmp_path / "history"
        self.lines.mkdir()
        (self.lines / "one").write_text("a\n")
        self.stream = TestStream().add_elements([("a", 10)])

    def run(self, directory="checkpoints", is_wrong=False, is_changed=False, **settings):
        checkpoints = (self.root / directory).as_uri()
        env = self.make_env(parallelism=1, execution_checkpointing_dir=checkpoints, **settings)
        text = StreamFormat.text_line_format()
        lines = FileSource.for_record_stream_format(text, self.lines.as_uri()).build()
        numbers = NumberSequenceSource(1, 1)
        parts = (
            env.from_source(lines, NOTHING, "history").map(lambda line: (line, 1000)),
            env.from_collection([("a", 100)]),
            env.from_source(numbers, NOTHING, "numbers").map(lambda number: ("a", number)),
        )
        elements = env.from_source(self.stream, NOTHING, "stream").union(*parts)
        keyed = elements.key_by(lambda value: value[0])
        total = keyed.process(Sum()).uid("sums")
        if is_changed:
            total = total.union(keyed.process(Sum()).uid("others").filter(lambda value: False))
        return [value for _, value in collected(total.map(failing) if is_wrong else total)]


@pytest.mark.complete("fails first", "operator", "none")
@pytest.mark.parametrize("change", ["none", "fails first", "operator", "copied"])
def test_bounded_sources_of_an_unbounded_query_are_read_once(make_env, tmp_path, change):
    program = History(make_env, tmp_path)
    if change == "fails first":
        with pytest.raises(Exception, match="this program is wrong"):
            program.run(is_wrong=True)
    assert max(program.run()) == 1111
    program.stream.add_elements([("a", 10000)])
    if change == "copied":
        for each in ("spark", "pyflow-manifest.json"):
            kept, copy = (tmp_path / at / "0" / each for at in ("checkpoints", "savepoint"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if kept.is_dir() else shutil.copy)(kept, copy)
        shutil.rmtree(tmp_path / "checkpoints")
        savepoint = (tmp_path / "savepoint").as_uri()
        found = program.run("others", execution_savepoint_path=savepoint)
    else:
        found = program.run(is_changed=change == "operator")
    assert found == [11111]


@pytest.mark.complete
def test_a_start_from_a_savepoint_that_was_interrupted_is_no_checkpoint(make_env, tmp_path):
    source = TestStream().add_elements([("a", 1)])
    first = {"execution_checkpointing_dir": (tmp_path / "savepoint").as_uri()}
    assert collected(sums(make_env(**first), source)) == [("a", 1)]
    source.add_elements([("a", 2)])
    (tmp_path / "others" / "pyflow-begun").mkdir(parents=True)
    shutil.copytree(tmp_path / "savepoint" / "0" / "spark", tmp_path / "others" / "0" / "spark")
    second = {"execution_checkpointing_dir": (tmp_path / "others").as_uri()}
    with pytest.raises(IncompatibleProgramError, match=r"start from a savepoint .* interrupted"):
        collected(sums(make_env(**second), source))
    second["execution_savepoint_path"] = (tmp_path / "savepoint").as_uri()
    assert collected(sums(make_env(**second), source)) == [("a", 3)]
    assert not (tmp_path / "others" / "pyflow-begun").exists()


def test_a_savepoint_without_a_directory_of_checkpoints_is_not_ignored(make_env, tmp_path):
    source = TestStream().add_elements([("a", 1)])
    savepoint = (tmp_path / "savepoint").as_uri()
    env = make_env(execution_savepoint_path=savepoint)
    with pytest.raises(IncompatibleProgramError, match=r"needs execution\.checkpointing\.dir"):
        collected(sums(env, source))
    # A bounded program has nothing that could start from one.
    bounded = make_env(execution_savepoint_path=savepoint).from_collection([1])
    bounded.print()
    assert "bounded" in bounded._environment.explain()


@pytest.mark.complete
def test_a_savepoint_that_does_not_fit_is_not_copied(make_env, tmp_path):
    source = TestStream().add_elements([("a", 1)])
    first = {"execution_checkpointing_dir": (tmp_path / "savepoint").as_uri()}
    assert collected(sums(make_env(**first), source)) == [("a", 1)]
    second = {
        "execution_checkpointing_dir": (tmp_path / "others").as_uri(),
        "execution_savepoint_path": (tmp_path / "savepoint").as_uri(),
    }
    with pytest.raises(IncompatibleProgramError, match="uid sums"):
        collected(sums(make_env(**second), source, "another"))
    assert not (tmp_path / "others").exists()


@pytest.mark.complete
def test_state_that_was_given_up_does_not_come_back(make_env, tmp_path):
    settings = {
        "execution_checkpointing_dir": tmp_path.as_uri(),
        "execution_savepoint_ignore__unclaimed__state": "true",
    }
    source = TestStream().add_elements([("a", 1)])
    assert collected(sums(make_env(**settings), source)) == [("a", 1)]
    source.add_elements([("a", 2)])
    assert collected(sums(make_env(**settings), source, "another")) == [("a", 2)]
    source.add_elements([("a", 4)])
    assert collected(sums(make_env(**settings), source)) == [("a", 4)]


def test_only_a_whole_savepoint_is_one(make_env, tmp_path):
    checkpoints, savepoints = tmp_path / "checkpoints", tmp_path / "savepoints"
    source = TestStream().add_elements([("a", 1)])
    env = make_env(execution_checkpointing_dir=checkpoints.as_uri())
    sums(env, source).print()
    client = env.execute_async(str(uuid.uuid4()))
    client.get_job_execution_result().result()
    path = client.stop_with_savepoint(False, savepoints.as_uri()).result()
    source.add_elements([("a", 2)])

    def start(directory, savepoint):
        settings = {"execution_checkpointing_dir": (tmp_path / directory).as_uri()}
        env = make_env(**settings, execution_savepoint_path=savepoint)
        return collected(sums(env, source))

    # A copy that was interrupted before its end.
    interrupted = tmp_path / "interrupted"
    shutil.copytree(path.removeprefix("file:"), interrupted)
    (interrupted / "0" / "pyflow-manifest.json").unlink()
    with pytest.raises(IncompatibleProgramError, match=r"no whole savepoint at .*interrupted"):
        start("others", interrupted.as_uri())
    # A start that was interrupted while it copied the savepoint.
    left_over = tmp_path / "more" / "0" / "spark" / "offsets"
    left_over.mkdir(parents=True)
    (left_over / "7").write_text("v1\n")
    assert start("more", path) == [("a", 3)]
    assert not Path(left_over / "7").exists()
