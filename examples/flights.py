"""Three million US flights through plain Python functions, in thread mode and in process mode.

The input is ``flights-3m.parquet`` and ``airports.csv`` of the npm package ``vega-datasets``:
departure time, arrival delay, origin and destination of US flights in the first half of 2001, and
the name and place of every airport. Three functions, written without regard to how Spark runs
them, enrich each flight: the kind of day and the hour that it leaves in, how late it is, and how
far it flies. The result is aggregated and written as Parquet.

The same program runs in two applications, which differ in one setting: in thread mode, where the
functions run inside the JVM, and in process mode, where Spark's own Python workers run them::

    spark.conf.set("spark.pyflow.execution-mode", "thread")   # or "process"

Both outputs must be equal to the last digit. The program prints a table by kind of airport, and
what each mode took: wall time, CPU time, memory, and the time to the first result. It draws a
chart.

The functions themselves take 1.1 µs per flight in a plain Python loop, which is a third of the CPU
time of thread mode; both modes have to spend it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from matplotlib.axes import Axes
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.functions import udf

import pyflow
from benchmarks.process_tree import PeakMemory, cpu_nanos, own_cpu_nanos

REPOSITORY = Path(__file__).resolve().parent.parent
FLIGHTS = "flights-3m.parquet"
AIRPORTS = "airports.csv"
MODES = ("thread", "process")
KEYS = ["kind", "airport", "day", "hour", "delay_class"]
# Of the first half of 2001, which the data are of.
HOLIDAYS = {date(2001, 1, 1), date(2001, 1, 15), date(2001, 2, 19), date(2001, 5, 28)}
EARTH_RADIUS_KM = 6371.0088
KINDS_OF_AIRPORT = [
    ("international", re.compile(r"\bint(ernationa|')?l\b|\bintercontinental\b", re.IGNORECASE)),
    ("regional", re.compile(r"\b(regional|county|cty|co)\b", re.IGNORECASE)),
    ("municipal", re.compile(r"\b(muni|municipal|city|metropolitan)\b", re.IGNORECASE)),
]
# From punctual to very late: one hue, so that the eye reads the order.
DELAY_CLASSES = {
    "early": "#cfe1ec",
    "on time": "#9fc3d9",
    "late": "#f0a36b",
    "very late": "#c8502d",
}


def departure_slot(departure: datetime) -> tuple[str, int]:
    """Return the kind of day of a departure, and its hour; nights belong to the day before."""
    operated = departure - timedelta(hours=4)
    off = operated.weekday() >= 5 or operated.date() in HOLIDAYS
    return "weekend or holiday" if off else "working day", departure.hour


@dataclass
class Measured:
    """What the job took in one mode: seconds, seconds of CPU and bytes; by round, if a list."""

    first_result: float
    seconds: list[float] = field(default_factory=list)
    jvm_cpu: list[float] = field(default_factory=list)
    worker_cpu: list[float] = field(default_factory=list)
    memory: int = 0

    def cpu(self) -> float:
        """CPU time of JVM and workers, the median."""
        return median(map(sum, zip(self.jvm_cpu, self.worker_cpu, strict=True)))


def delay_class(minutes: int) -> str:
    """Classify an arrival delay; US statistics count a flight as late from 15 minutes on."""
    if minutes < 0:
        return "early"
    if minutes < 15:
        return "on time"
    return "late" if minutes < 60 else "very late"


def airport_kind(name: str) -> str:
    """Tell the kind of an airport from its name: ``Newark Intl``, ``Albany Cty``, ``LaGuardia``."""
    for kind, pattern in KINDS_OF_AIRPORT:
        if pattern.search(name):
            return kind
    return "other"


def great_circle_km(
    latitude1: float, longitude1: float, latitude2: float, longitude2: float
) -> float:
    """Return the distance of two points, given in degrees, on the surface of the Earth."""
    phi1, phi2 = math.radians(latitude1), math.radians(latitude2)
    half_height = math.sin((phi2 - phi1) / 2)
    half_width = math.sin(math.radians(longitude2 - longitude1) / 2)
    chord = half_height * half_height + math.cos(phi1) * math.cos(phi2) * half_width * half_width
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(chord))


def enrich(flights: DataFrame, airports: DataFrame) -> DataFrame:
    """Add what the functions know of every flight."""
    places = flights.sparkSession.sparkContext.broadcast(
        {row.iata: (row.latitude, row.longitude) for row in airports.collect()}
    )

    # Arrow is the default; said explicitly, PySpark does not warn about ordinary type hints.
    @udf("int", useArrow=True)
    def distance_km(origin: str, destination: str) -> int | None:
        table = places.value
        if origin not in table or destination not in table:
            return None
        return round(great_circle_km(*table[origin], *table[destination]))

    kind_of = udf(airport_kind, "string", useArrow=True)
    slot_of = udf(departure_slot, "struct<day: string, hour: int>", useArrow=True)
    class_of = udf(delay_class, "string", useArrow=True)

    origins = airports.select(
        sf.col("iata").alias("origin"),
        sf.col("name").alias("airport"),
        kind_of("name").alias("kind"),
    )
    return flights.join(sf.broadcast(origins), "origin").select(
        "airport",
        "delay",
        "kind",
        slot_of("date").alias("slot"),
        class_of("delay").alias("delay_class"),
        distance_km("origin", "destination").alias("km"),
    )


def delays_by_airport_and_hour(flights: DataFrame, airports: DataFrame) -> DataFrame:
    """Enrich every flight by the functions and aggregate by airport, hour and delay class."""
    enriched = enrich(flights, airports).select("*", "slot.day", "slot.hour")
    return enriched.groupBy(*KEYS).agg(
        sf.count("*").alias("flights"),
        sf.sum("delay").alias("delay_minutes"),
        sf.sum("km").alias("km"),
    )


def check_input(folder: Path) -> None:
    """Leave with the command that fetches the input if it is missing."""
    missing = [name for name in (FLIGHTS, AIRPORTS) if not (folder / name).is_file()]
    if missing:
        sys.exit(f"{' and '.join(missing)} not found in {folder}: run `make data` in {REPOSITORY}")


def read_input(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    """Return flights and airports."""
    airports = spark.read.csv(
        str(folder / AIRPORTS),
        header=True,
        schema="iata string, name string, city string, state string, country string, "
        "latitude double, longitude double",
    )
    return spark.read.parquet(str(folder / FLIGHTS)), airports


def start_spark(mode: str) -> SparkSession:
    """Start an application whose functions run in one mode."""
    # Spark would run the functions with the first python3 on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        pyflow.configure(SparkSession.builder.appName(f"flights, {mode} mode"))
        .config("spark.pyflow.execution-mode", mode)
        # The aggregate is small: the default of 200 would have every task write 200 pieces of it.
        .config("spark.sql.shuffle.partitions", str(os.cpu_count()))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("WARN")
    return spark


def measure(mode: str, folder: Path, output: Path, rounds: int) -> Measured:
    """Run the job in an application of its own, so that nothing of the other mode is in its way."""
    spark = start_spark(mode)
    jvm = spark.sparkContext._gateway.proc.pid
    flights, airports = read_input(spark, folder)
    start = time.perf_counter()
    enrich(flights, airports).first()
    measured = Measured(first_result=time.perf_counter() - start)
    with PeakMemory(jvm, interval=0.25) as memory:
        # The first round is a warm-up: the JVM compiles most of what it runs then.
        for number in range(rounds + 1):
            before, jvm_before = cpu_nanos(jvm), own_cpu_nanos(jvm)
            start = time.perf_counter()
            job = delays_by_airport_and_hour(flights, airports)
            job.write.parquet(str(output / mode), mode="overwrite")
            seconds = time.perf_counter() - start
            in_jvm = own_cpu_nanos(jvm) - jvm_before
            in_all = cpu_nanos(jvm) - before
            if number > 0:
                measured.seconds.append(seconds)
                measured.jvm_cpu.append(in_jvm / 1e9)
                measured.worker_cpu.append((in_all - in_jvm) / 1e9)
    measured.memory = memory.peak
    spark.stop()
    return measured


def measure_in_turns(arguments: Sequence[str], output: Path) -> dict[str, Measured]:
    """Start this program once for each mode."""
    for mode in MODES:
        print(f"{mode} mode …", flush=True)
        subprocess.run([sys.executable, __file__, *arguments, "--mode", mode], check=True)
    return {mode: Measured(**json.loads((output / f"{mode}.json").read_text())) for mode in MODES}


def print_measured(measured: dict[str, Measured], count: int) -> None:
    """Print what each mode took, and how many times as much process mode did."""
    rows: list[tuple[str, Callable[[Measured], float], str]] = [
        ("wall time", lambda each: median(each.seconds), "{:.2f} s"),
        ("flights per second", lambda each: count / median(each.seconds), "{:,.0f}"),
        ("CPU of the JVM", lambda each: median(each.jvm_cpu), "{:.2f} s"),
        ("CPU of the workers", lambda each: median(each.worker_cpu), "{:.2f} s"),
        ("CPU in all", lambda each: each.cpu(), "{:.2f} s"),
        ("peak memory", lambda each: each.memory / 1e6, "{:,.0f} MB"),
        ("first result of the session", lambda each: each.first_result, "{:.2f} s"),
    ]
    print("\n{:<28}{:>16}{:>16}".format("medians", *(f"{mode} mode" for mode in MODES)))
    for name, value, form in rows:
        cells = [form.format(value(measured[mode])) for mode in MODES]
        print("{:<28}{:>16}{:>16}".format(name, *cells))
    thread, process = (measured[mode] for mode in MODES)
    wall = median(process.seconds) / median(thread.seconds)
    print(
        f"\nprocess mode takes {wall:.1f} times as long; "
        f"thread mode takes {thread.cpu() / process.cpu():.0%} of its CPU time"
    )


def read_output(folder: Path) -> pa.Table:
    """Return the rows a run has written, in an order of their own."""
    return pq.read_table(folder).sort_by([(key, "ascending") for key in KEYS])


def check_equal(outputs: dict[str, pa.Table]) -> None:
    """Leave with an error unless all modes have written the same rows, to the last digit."""
    first, *others = outputs.values()
    if not all(first.equals(other) for other in others):
        sys.exit(f"the outputs of {' and '.join(outputs)} mode differ")


def share(part: pa.Table, whole: int) -> float:
    """Return the flights of a part as a share of the whole."""
    return (pc.sum(part["flights"]).as_py() or 0) / whole


def print_summary(delays: pa.Table) -> None:
    """Print one line per kind of airport, the busiest first."""
    header = ("kind of airport", "flights", "mean delay", "late", "mean distance")
    print("\n{:<16}{:>11}{:>14}{:>8}{:>16}".format(*header))
    by_kind = {
        kind: delays.filter(pc.field("kind") == kind)
        for kind in delays["kind"].unique().to_pylist()
    }
    for kind, part in sorted(by_kind.items(), key=lambda item: -pc.sum(item[1]["flights"]).as_py()):
        flights = pc.sum(part["flights"]).as_py()
        late = share(part.filter(pc.field("delay_class").isin(["late", "very late"])), flights)
        minutes = pc.sum(part["delay_minutes"]).as_py() / flights
        km = pc.sum(part["km"]).as_py() / flights
        print(f"{kind:<16}{flights:>11,}{minutes:>10.1f} min{late:>8.1%}{km:>13,.0f} km")


def draw_chart(delays: pa.Table, path: Path) -> None:
    """Draw how delays grow over the day, and where they are worst."""
    figure, (day, airports) = plt.subplots(
        1, 2, figsize=(12, 5.2), width_ratios=[3, 2], layout="constrained"
    )
    figure.suptitle(
        "Delays grow through the day: US flights, first half of 2001",
        x=0.01,
        ha="left",
        fontsize=14,
        fontweight="bold",
    )
    draw_day(day, delays)
    draw_airports(airports, delays)
    for axes in (day, airports):
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(length=0)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_day(axes: Axes, delays: pa.Table) -> None:
    """Stack the share of each delay class for every hour of the day, from very late upwards."""
    # Hardly anyone departs in the night, and what few flights there are say nothing of the day.
    hours = range(5, 24)
    by_hour = [delays.filter(pc.field("hour") == hour) for hour in hours]
    totals = [pc.sum(part["flights"]).as_py() or 1 for part in by_hour]
    bottom = [0.0] * len(hours)
    for name, colour in reversed(DELAY_CLASSES.items()):
        shares = [
            100 * share(part.filter(pc.field("delay_class") == name), total)
            for part, total in zip(by_hour, totals, strict=True)
        ]
        axes.bar(hours, shares, bottom=bottom, width=0.9, color=colour, label=name)
        bottom = [low + high for low, high in zip(bottom, shares, strict=True)]
    axes.set_title("Share of flights by hour of departure, %", loc="left", fontsize=10)
    axes.set_xticks(range(5, 24, 3), [f"{hour}:00" for hour in range(5, 24, 3)])
    axes.set_xlim(4.4, 23.6)
    axes.set_ylim(0, 100)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=4, frameon=False, reverse=True
    )


def draw_airports(axes: Axes, delays: pa.Table) -> None:
    """Rank the fifteen busiest airports by the share of flights that arrive late."""
    flights = {
        row["airport"]: row["flights_sum"]
        for row in delays.group_by("airport").aggregate([("flights", "sum")]).to_pylist()
    }
    busiest = sorted(flights, key=flights.__getitem__)[-15:]
    late = delays.filter(pc.field("delay_class").isin(["late", "very late"]))
    shares = {
        name: 100 * share(late.filter(pc.field("airport") == name), flights[name])
        for name in busiest
    }
    ranked = sorted(busiest, key=shares.__getitem__)
    bars = axes.barh(ranked, [shares[name] for name in ranked], color=DELAY_CLASSES["late"])
    axes.bar_label(bars, fmt="%.0f", padding=3, fontsize=9)
    axes.set_title("Flights 15 minutes late or more, by origin, %", loc="left", fontsize=10)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the job in both modes, compare, and report."""
    parser = argparse.ArgumentParser(
        description="US flights through Python functions, in both modes."
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=REPOSITORY / "build/data",
        help="folder of the input (default: %(default)s)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=REPOSITORY / "build/flights",
        help="folder of the results (default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=3, help="measured runs per mode (default: 3)")
    parser.add_argument("--mode", choices=MODES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    if options.mode:
        measured = measure(options.mode, options.data, options.output, options.rounds)
        report = options.output / f"{options.mode}.json"
        report.write_text(json.dumps(dataclasses.asdict(measured)))
        return

    check_input(options.data)
    count = pq.read_metadata(options.data / FLIGHTS).num_rows
    print(f"{count:,} flights, Python {sys.version.split()[0]}, PySpark {pyspark.__version__}")
    given = sys.argv[1:] if arguments is None else arguments
    measured_by_mode = measure_in_turns(given, options.output)
    outputs = {mode: read_output(options.output / mode) for mode in MODES}
    check_equal(outputs)
    delays = outputs["thread"]
    print(f"the outputs are equal: {delays.num_rows:,} rows each")
    print_summary(delays)
    chart = options.output / "flights.png"
    draw_chart(delays, chart)
    print_measured(measured_by_mode, count)
    print(f"results in {options.output}, chart in {chart}")


if __name__ == "__main__":
    main()
