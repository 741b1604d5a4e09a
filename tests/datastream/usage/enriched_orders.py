"""Orders with the names and prices of products, which are broadcast to all subtasks."""

from pyflow.common import Duration, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import KeyedBroadcastProcessFunction
from pyflow.datastream.state import ListStateDescriptor, MapStateDescriptor

PRODUCTS = MapStateDescriptor("products", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


class At(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["at"]


class Enrich(KeyedBroadcastProcessFunction):
    """Orders of an unknown product wait for it, ten seconds at most."""

    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(
            ListStateDescriptor("waiting", Types.PICKLED_BYTE_ARRAY())
        )

    def process_broadcast_element(self, value, ctx):
        products = ctx.get_broadcast_state(PRODUCTS)
        if value["price"] is None:
            products.remove(value["product"])
        else:
            products.put(value["product"], value)

    def process_element(self, value, ctx):
        product = ctx.get_broadcast_state(PRODUCTS).get(ctx.get_current_key())
        if product is None:
            self.waiting.add(value)
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10_000)
            return
        for order in [*self.waiting.get(), value]:
            yield enriched(order, product)
        self.waiting.clear()

    def on_timer(self, timestamp, ctx):
        product = ctx.get_broadcast_state(PRODUCTS).get(ctx.get_current_key())
        for order in self.waiting.get():
            yield enriched(order, product)
        self.waiting.clear()


def enriched(order, product):
    if product is None:
        return {**order, "name": None, "total": None}
    return {**order, "name": product["name"], "total": order["count"] * product["price"]}


def build(orders, products):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    strategy = strategy.with_timestamp_assigner(At())
    products = products.assign_timestamps_and_watermarks(strategy).broadcast(PRODUCTS)
    orders = orders.assign_timestamps_and_watermarks(strategy)
    return orders.key_by(lambda order: order["product"]).connect(products).process(Enrich())
