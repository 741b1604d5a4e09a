"""Programs of the kinds that users write most, over elements of the test.

Each runs in both execution modes, over bounded elements and over an unbounded stream of batches.
What is expected comes from plain models in Python.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import usage
import usage_models as models
from pyspark import cloudpickle

from pyflow.common import Row, Time, WatermarkStrategy
from pyflow.datastream.testing import TestStream

PROGRAMS = {
    each.name: importlib.import_module(f"usage.{each.name}")
    for each in pkgutil.iter_modules(usage.__path__)
}
for program in PROGRAMS.values():
    cloudpickle.register_pickle_by_value(program)
NOTHING = WatermarkStrategy.no_watermarks()


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


@pytest.fixture(params=["bounded", "unbounded"])
def is_bounded(request):
    return request.param == "bounded"


def stream_of(env, batches, is_bounded, type_info=None):
    """The stream of the elements of batches, which is unbounded or a collection."""
    if is_bounded:
        return env.from_collection([each for batch in batches for each in batch], type_info)
    source = TestStream(type_info)
    for batch in batches:
        source.add_elements(batch)
    return env.from_source(source, NOTHING, "elements")


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def collected_apart(*streams):
    """The elements of each stream of one program."""
    first, *others = [
        stream.map(lambda value, number=number: (number, value))
        for number, stream in enumerate(streams)
    ]
    found = collected(first.union(*others))
    return [[value for each, value in found if each == number] for number in range(len(streams))]


def same(found, expected):
    """Compares without regard to order."""
    return sorted(map(repr, found)) == sorted(map(repr, expected))


def times(draw, count, step, disorder):
    """Times that grow by a step on average, some of them too early for that."""
    return [
        number * step + draw.randrange(step) - draw.choice([0, 0, 0, disorder])
        for number in range(1, count + 1)
    ]


def in_batches(elements, count):
    size = math.ceil(len(elements) / count)
    return [elements[start : start + size] for start in range(0, len(elements), size)]


@pytest.mark.complete("-bounded")
def test_orders_are_enriched_by_broadcast_products(env, is_bounded):
    program = PROGRAMS["enriched_orders"]
    draw = random.Random(1)
    names = ["tea", "milk", "bread", "salt"]
    orders = in_batches(
        [
            {"id": number, "product": draw.choice(names), "count": draw.randint(1, 9), "at": at}
            for number, at in enumerate(times(draw, 40, 1000, 500))
        ],
        5,
    )
    products = [
        [{"product": "tea", "name": "Tea", "price": 3, "at": 8000}],
        [{"product": "milk", "name": "Milk", "price": 1, "at": 16000}],
        [
            {"product": "tea", "name": "Green Tea", "price": 4, "at": 24000},
            {"product": "bread", "name": "Bread", "price": 2, "at": 24000},
        ],
        [{"product": "milk", "name": "Milk", "price": None, "at": 32000}],
        [{"product": "none", "name": "None", "price": None, "at": 90000}],
    ]

    found = collected(
        program.build(stream_of(env, orders, is_bounded), stream_of(env, products, is_bounded))
    )

    expected = models.enriched_orders(orders, products, 10_000, 1000, is_bounded)
    assert same(found, expected)
    assert len(found) > 30
    assert {each["name"] for each in found} >= {None, "Bread", "Green Tea"}


@pytest.mark.complete("-bounded")
def test_cards_raise_alerts(env, is_bounded):
    program = PROGRAMS["card_alerts"]
    draw = random.Random(2)
    payments = [
        Row(card=draw.randint(1, 3), amount=draw.choice([0.5, 20.0, 900.0]), at=at)
        for at in times(draw, 60, 20_000, 0)
    ]
    batches = in_batches(payments, 6)

    found = collected(program.build(stream_of(env, batches, is_bounded, program.PAYMENT)))

    expected = models.card_alerts(batches, program.SMALL, program.LARGE, program.MINUTE, is_bounded)
    assert same(found, expected)
    for card in (1, 2, 3):
        assert [each for each in found if each.card == card] == [
            each for each in expected if each.card == card
        ]
    assert len(found) > 2


@pytest.mark.complete("-bounded")
@pytest.mark.parametrize("seconds", [1, 3600])
def test_events_that_were_seen_are_left_out_while_they_are_remembered(
    make_env, mode, tmp_path, seconds
):
    program = PROGRAMS["unique_events"]
    source = TestStream()

    def run(*batches):
        for ids in batches:
            source.add_elements([{"id": number, "run": ids[0]} for number in ids])
        env = make_env(mode=mode, execution_checkpointing_dir=tmp_path.as_uri())
        stream = env.from_source(source, NOTHING, "events")
        return sorted(
            each["id"] for each in collected(program.build(stream, Time.seconds(seconds)))
        )

    assert run([3, 1, 1, 2]) == [1, 2, 3]
    time.sleep(1)
    assert run([5, 1, 3, 5]) == ([1, 3, 5] if seconds == 1 else [5])
    if seconds > 1:
        assert run([4, 2], [5, 4, 6]) == [4, 6]


def test_bounded_events_are_unique(env):
    program = PROGRAMS["unique_events"]
    draw = random.Random(3)
    events = [{"id": draw.choice([1, "a", (1, "b")]), "n": number} for number in range(50)]

    found = collected(program.build(env.from_collection(events), Time.hours(1)))

    first = {each["id"]: each for each in reversed(events)}
    assert same(found, first.values())


@pytest.mark.complete("-bounded")
def test_visits_end_and_late_views_go_aside(env, is_bounded):
    program = PROGRAMS["visits"]
    draw = random.Random(7)
    views = [
        {"user": draw.choice("ab"), "page": f"/{number}", "at": at}
        for number, at in enumerate(times(draw, 60, 14_000, 150_000))
    ]
    batches = in_batches(views, 6)

    visits, late = collected_apart(*program.build(stream_of(env, batches, is_bounded)))

    expected, expected_late = models.visits(
        batches, program.GAP, program.DELAY, program.LATENESS, is_bounded
    )
    assert same(visits, expected)
    assert same(late, expected_late)
    assert (len(visits) > 8, len(late) > 2) == (True, not is_bounded)


@pytest.fixture
def service():
    """A service that knows customers; it fails now and then, and never answers for one of them."""
    asked, ended = Counter(), threading.Event()

    class Customer(BaseHTTPRequestHandler):
        def do_GET(self):
            number = int(self.path.rpartition("/")[2])
            asked[number] += 1
            if number == 13:
                ended.wait(60)
            elif number == 14:
                self.send_error(404)
            elif number % 5 == 0 and asked[number] == 1:
                self.send_error(503)
            else:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps({"name": f"customer {number}"}).encode())

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        # All connections come at once.
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Customer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server, asked
        ended.set()
        server.shutdown()
        thread.join()


@pytest.mark.complete("-bounded")
def test_customers_are_looked_up_by_asynchronous_calls(env, is_bounded, service):
    program = PROGRAMS["customer_lookups"]
    server, asked = service
    orders = [{"id": number, "customer": number} for number in range(30)]

    stream = stream_of(env, in_batches(orders, 3), is_bounded)
    found = collected(program.build(stream, *server.server_address))

    expected = [
        {**order, "name": None if order["id"] == 13 else f"customer {order['id']}"}
        for order in orders
        if order["id"] != 14
    ]
    assert same(found, expected)
    assert asked == Counter({number: 2 if number % 5 == 0 else 1 for number in range(30)})


@pytest.mark.complete("-bounded")
def test_failed_logins_are_found_in_the_order_of_their_times(env, is_bounded):
    program = PROGRAMS["failed_logins"]
    draw = random.Random(5)
    logins = [
        {"user": draw.choice("abc"), "ok": draw.random() < 0.25, "at": at}
        for at in times(draw, 150, 5_000, 12_000)
    ]
    batches = in_batches(logins, 5)

    found, late = collected_apart(*program.build(stream_of(env, batches, is_bounded)))

    expected, expected_late = models.failed_logins(
        batches, program.MINUTE, program.DELAY, is_bounded
    )
    assert same(found, expected)
    assert same(late, expected_late)
    assert (len(found) > 5, len(late) > 1) == (True, not is_bounded)


def test_the_top_words_of_each_window_are_found(env, is_bounded):
    program = PROGRAMS["top_words"]
    draw = random.Random(6)
    words = ["to", "be", "or", "not", "that", "is", "the", "question", "whether", "tis", "nobler"]
    lines = [
        (at, " ".join(draw.choices(words, range(len(words), 0, -1), k=6)))
        for at in times(draw, 60, 1_000, 4_000)
    ]
    batches = in_batches(lines, 4)

    found = collected(program.build(stream_of(env, batches, is_bounded)))

    expected = models.top_words(batches, program.SIZE, program.DELAY, program.TOP, is_bounded)
    assert same(found, expected)
    assert len(found) > 4


def test_payments_are_scored_by_a_model_that_is_loaded_once(make_env, mode, is_bounded, tmp_path):
    program = PROGRAMS["scored_payments"]
    draw = random.Random(7)
    file = tmp_path / "model.json"
    weights = {"amount": 0.01, "hour": -0.1, "foreign": 2.0}
    file.write_text(json.dumps({"name": "v1", "intercept": -4.0, "weights": weights}))
    payments = [
        {
            "id": number,
            "card": number % 7,
            "amount": draw.uniform(1, 600),
            "hour": draw.randrange(24),
            "foreign": draw.random() < 0.3,
        }
        for number in range(80)
    ]

    env = make_env(parallelism=2, mode=mode)
    stream = stream_of(env, in_batches(payments, 4), is_bounded)
    found = {each.id: each for each in collected(program.build(stream, str(file), 0.5))}

    def score(payment):
        terms = (weight * payment[name] for name, weight in weights.items())
        return 1 / (1 + math.exp(4.0 - sum(terms)))

    expected = {each["id"]: score(each) for each in payments if score(each) > 0.5}
    assert {number: each.score for number, each in found.items()} == pytest.approx(expected)
    assert {each.model for each in found.values()} == {"v1"}
    if mode == "thread":
        assert (tmp_path / "model.loads").read_text().split() == ["loaded"] * 2


def test_orders_are_joined_with_their_payments(env, is_bounded):
    program = PROGRAMS["paid_orders"]
    draw = random.Random(8)
    orders = [
        (number, f"order {number}", at) for number, at in enumerate(times(draw, 40, 4_000, 500))
    ]
    payments = [
        (number, f"payment {number}", at + draw.randrange(-20_000, 80_000))
        for number, _, at in orders
        if number % 5
    ]
    payments = [*payments, (99, "payment 99", 30_000)]
    payments.sort(key=lambda payment: payment[2])
    of_orders, of_payments = in_batches(orders, 4), in_batches(payments, 4)

    found = collected_apart(
        *program.build(
            stream_of(env, of_orders, is_bounded, program.PAIR),
            stream_of(env, of_payments, is_bounded, program.PAIR),
        )
    )

    expected = models.paid_orders(of_orders, of_payments, program.MINUTE, program.DELAY, is_bounded)
    for each, wanted in zip(found, expected):
        assert same(each, wanted)
        assert each
