"""Visits of a site: sessions of page views, and the views that came too late for theirs."""

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import OutputTag, ProcessWindowFunction
from pyflow.datastream.window import EventTimeSessionWindows

LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())
GAP, DELAY, LATENESS = 30_000, 5_000, 10_000


class ViewTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["at"]


class Visit(ProcessWindowFunction):
    def process(self, key, context, elements):
        pages = [view["page"] for view in sorted(elements, key=lambda view: view["at"])]
        window = context.window()
        yield {"user": key, "from": window.start, "to": window.end, "pages": pages}


def build(views):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY))
    visits = (
        views.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(ViewTime()))
        .key_by(lambda view: view["user"])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP)))
        .allowed_lateness(LATENESS)
        .side_output_late_data(LATE)
        .process(Visit())
    )
    return visits, visits.get_side_output(LATE)
