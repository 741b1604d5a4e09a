"""Three million US flights through plain Python functions, in thread mode and in process mode.

The input is ``flights-3m.parquet`` and ``airports.csv`` of the npm package ``vega-datasets``:
departure time, arrival delay, origin and destination of US flights in the first half of 2001, and
the name and place of every airport. Four functions, written without a thought of how Spark runs
them, enrich each flight. The result is aggregated and written as Parquet, first with the functions
running inside the JVM (thread mode), then in Spark's own Python workers (process mode): the same
session, the same program, one setting changed between the two::

    spark.conf.set("spark.pyflow.execution-mode", "thread")   # or "process"

Both outputs must be equal to the last digit. At the end stand a table by kind of airport, a chart,
and how many flights per second each mode managed.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from matplotlib.axes import Axes
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.functions import udf

import pyflow

REPOSITORY = Path(__file__).resolve().parent.parent
MODES = ("thread", "process")
KEYS = ["kind", "airport", "hour", "delay_class"]
WARM_UP_FLIGHTS = 100_000
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


def departure_hour(departure: str) -> int | None:
    """Return the hour of a departure written as ``2001/01/14 18:20``, None if it is not one."""
    _, _, clock = departure.partition(" ")
    hour, _, minute = clock.partition(":")
    if not (hour.isdigit() and minute.isdigit()):
        return None
    return int(hour) if int(hour) < 24 and int(minute) < 60 else None


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


def delays_by_airport_and_hour(flights: DataFrame, airports: DataFrame) -> DataFrame:
    """Enrich every flight by the four functions and aggregate by airport, hour and delay class."""
    places = flights.sparkSession.sparkContext.broadcast(
        {row.iata: (row.latitude, row.longitude) for row in airports.collect()}
    )

    # Arrow is the default; said explicitly, PySpark does not warn about ordinary type hints.
    @udf("double", useArrow=True)
    def distance_km(origin: str, destination: str) -> float | None:
        table = places.value
        if origin not in table or destination not in table:
            return None
        return great_circle_km(*table[origin], *table[destination])

    kind_of = udf(airport_kind, "string", useArrow=True)
    hour_of = udf(departure_hour, "int", useArrow=True)
    class_of = udf(delay_class, "string", useArrow=True)

    names = airports.select(sf.col("iata").alias("origin"), sf.col("name").alias("airport"))
    enriched = flights.join(sf.broadcast(names), "origin").select(
        "airport",
        "delay",
        kind_of("airport").alias("kind"),
        # The package's JSON editions of the flights carry the time as this text.
        hour_of(sf.date_format("date", "yyyy/MM/dd HH:mm")).alias("hour"),
        class_of("delay").alias("delay_class"),
        distance_km("origin", "destination").alias("km"),
    )
    return enriched.groupBy(*KEYS).agg(
        sf.count("*").alias("flights"),
        sf.sum("delay").alias("delay_minutes"),
        # Sums of decimals do not depend on the order of the rows, sums of doubles would.
        sf.sum(sf.col("km").cast("decimal(12, 6)")).alias("km"),
    )


def read_input(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    """Return flights and airports, or leave with the command that fetches them."""
    missing = [
        name for name in ("flights-3m.parquet", "airports.csv") if not (folder / name).is_file()
    ]
    if missing:
        sys.exit(f"{' and '.join(missing)} not found in {folder}: run `make data` in {REPOSITORY}")
    airports = spark.read.csv(
        str(folder / "airports.csv"),
        header=True,
        schema="iata string, name string, city string, state string, country string, "
        "latitude double, longitude double",
    )
    return spark.read.parquet(str(folder / "flights-3m.parquet")), airports


def run(mode: str, flights: DataFrame, airports: DataFrame, output: Path) -> float:
    """Run the job in one mode and return its seconds."""
    flights.sparkSession.conf.set("spark.pyflow.execution-mode", mode)
    start = time.perf_counter()
    delays_by_airport_and_hour(flights, airports).write.parquet(str(output), mode="overwrite")
    return time.perf_counter() - start


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
    parser.add_argument(
        "--rounds", type=int, default=1, help="run the modes in turns so often (default: 1)"
    )
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)

    # Spark would run the functions with the first python3 on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        pyflow.configure(SparkSession.builder.appName("flights"))
        .config("spark.ui.showConsoleProgress", "true")
        # One task per row group of the file rather than one per core, so that progress is seen.
        .config("spark.sql.files.maxPartitionBytes", "1m")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("WARN")
    flights, airports = read_input(spark, options.data)
    count = flights.count()

    print(f"{count:,} flights, Python {sys.version.split()[0]}, Spark {spark.version}")
    # What either mode does once per session is not what is compared.
    for mode in MODES:
        run(mode, flights.limit(WARM_UP_FLIGHTS), airports, options.output / mode)
    best = dict.fromkeys(MODES, math.inf)
    for number in range(1, options.rounds + 1):
        for mode in MODES:
            seconds = run(mode, flights, airports, options.output / mode)
            best[mode] = min(best[mode], seconds)
            print(
                f"round {number}  {mode:<8}{seconds:7.2f} s {count / seconds:>12,.0f} flights/s",
                flush=True,
            )
    spark.stop()

    outputs = {mode: read_output(options.output / mode) for mode in MODES}
    check_equal(outputs)
    delays = outputs["thread"]
    print(f"the outputs are equal: {delays.num_rows:,} rows each")
    print_summary(delays)
    chart = options.output / "flights.png"
    draw_chart(delays, chart)
    ratio = best["process"] / best["thread"]
    print(
        f"\nthread mode took {best['thread']:.2f} s, process mode {best['process']:.2f} s: "
        f"{ratio:.1f} times as long"
    )
    print(f"results in {options.output}, chart in {chart}")


if __name__ == "__main__":
    main()
