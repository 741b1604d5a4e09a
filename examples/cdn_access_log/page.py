"""The page: the statistics of MariaDB as they grow, by a server of Bokeh."""

from __future__ import annotations

import argparse
from typing import Any

import pymysql
from bokeh.layouts import column, row
from bokeh.models import ColumnDataSource, DataTable, Div, NumberFormatter, TableColumn
from bokeh.plotting import figure
from bokeh.server.server import Server

MILLISECONDS = 1000
COLUMNS = ("province", "access_count", "total_download", "download_speed")
QUERY = f"SELECT {', '.join(COLUMNS)} FROM cdn_access_statistic ORDER BY access_count DESC"


def statistics(address: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of the statistics, the province with the most visits first."""
    with pymysql.connect(**address) as connection, connection.cursor() as cursor:
        cursor.execute(QUERY)
        rows = list(cursor.fetchall())
    return {name: [each[place] for each in rows] for place, name in enumerate(COLUMNS)}


def page(document: Any, address: dict[str, Any]) -> None:
    """Fill a page, and keep it so."""
    source = ColumnDataSource(statistics(address))
    bars = figure(
        x_range=source.data["province"],
        height=360,
        width=560,
        title="Visits",
        toolbar_location=None,
    )
    bars.vbar(x="province", top="access_count", width=0.8, source=source)
    bars.xaxis.major_label_orientation = 1
    bars.y_range.start = 0
    whole, decimal = NumberFormatter(format="0,0"), NumberFormatter(format="0,0.0")
    table = DataTable(
        source=source,
        columns=[
            TableColumn(field="province", title="province", width=110),
            TableColumn(field="access_count", title="visits", formatter=whole, width=90),
            TableColumn(
                field="total_download", title="bytes downloaded", formatter=whole, width=150
            ),
            TableColumn(field="download_speed", title="bytes per ms", formatter=decimal, width=110),
        ],
        index_position=None,
        width=480,
        height=360,
    )
    heading = Div(width=1000)

    def show() -> None:
        source.data = statistics(address)
        bars.x_range.factors = source.data["province"]
        visits = sum(source.data["access_count"])
        heading.text = f"<h2>CDN access log: {visits:,} visits</h2>"
        document.title = f"{visits} visits"

    show()
    document.add_root(column(heading, row(bars, table)))
    document.add_periodic_callback(show, MILLISECONDS)


def main() -> None:
    """Serve the page until the program is ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=5006)
    parser.add_argument("--database-port", type=int, default=3306)
    parser.add_argument("--user", default="pyflow")
    parser.add_argument("--password", default="pyflow")
    parser.add_argument("--database", default="pyflow")
    options = parser.parse_args()
    address = {
        "host": "127.0.0.1",
        "port": options.database_port,
        "user": options.user,
        "password": options.password,
        "database": options.database,
    }
    server = Server(
        {"/": lambda document: page(document, address)},
        address="127.0.0.1",
        port=options.port,
        allow_websocket_origin=[f"127.0.0.1:{options.port}", f"localhost:{options.port}"],
    )
    server.start()
    print(f"the page: http://127.0.0.1:{server.port}/", flush=True)
    server.io_loop.start()


if __name__ == "__main__":
    main()
