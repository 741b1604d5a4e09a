"""The example of the README does what it says, on a sample of made-up flights."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]

AIRPORTS = """\
iata,name,city,state,country,latitude,longitude
JFK,John F Kennedy Intl,New York,NY,USA,40.63975111,-73.77892556
LAX,Los Angeles International,Los Angeles,CA,USA,33.94253611,-118.4080744
LGA,LaGuardia,New York,NY,USA,40.77724306,-73.87260917
ALB,Albany Cty,Albany,NY,USA,42.74811944,-73.80297861
LNK,Lincoln Municipal,Lincoln,NE,USA,40.85097222,-96.75925
"""


def run_example(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "examples/flights.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
    )


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A folder with the two input files, of 2,000 flights between five airports."""
    choice = random.Random(2001)
    codes = [line.partition(",")[0] for line in AIRPORTS.splitlines()[1:]]
    start = datetime(2001, 1, 1)
    flights = []
    for _ in range(2_000):
        origin, destination = choice.sample(codes, 2)
        date = start + timedelta(minutes=choice.randrange(180 * 24 * 60))
        flights.append((date, choice.randrange(-30, 180), 100, origin, destination))
    columns = ["date", "delay", "distance", "origin", "destination"]
    table = pa.table(dict(zip(columns, map(list, zip(*flights, strict=True)), strict=True)))
    pq.write_table(table, tmp_path / "flights-3m.parquet")
    (tmp_path / "airports.csv").write_text(AIRPORTS)
    return tmp_path


@pytest.mark.complete
def test_both_modes_give_equal_outputs(sample: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    finished = run_example("--data", str(sample), "--output", str(output), "--rounds", "1")
    assert "the outputs are equal" in finished.stdout, finished.stdout + finished.stderr
    written = sum(pq.read_table(output / "thread")["flights"].to_pylist())
    assert (written, (output / "flights.png").is_file()) == (2_000, True)
    assert "CPU of the workers" in finished.stdout


def test_missing_input_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    finished = run_example("--data", str(tmp_path), "--output", str(tmp_path / "output"))
    assert "run `make data`" in finished.stderr
