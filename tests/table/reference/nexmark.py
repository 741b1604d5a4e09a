"""Queries of Nexmark, as they are published, over a small generated auction.

PyFlink's rows are in ``nexmark.json``; ``record_nexmark.py`` writes them.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

_BID = [
    "auction BIGINT", "bidder BIGINT", "price BIGINT", "channel VARCHAR", "url VARCHAR",
    "`dateTime` TIMESTAMP(3)", "extra VARCHAR",
]  # fmt: skip
_AUCTION = [
    "id BIGINT", "itemName VARCHAR", "description VARCHAR", "initialBid BIGINT", "reserve BIGINT",
    "`dateTime` TIMESTAMP(3)", "expires TIMESTAMP(3)", "seller BIGINT", "category BIGINT",
    "extra VARCHAR",
]  # fmt: skip
TABLES = {"bid": _BID, "auction": _AUCTION}

_RANKS = """
    COUNT(*) AS total_bids,
    COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
    COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
    COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids"""
_PEOPLE = """,
    COUNT(DISTINCT bidder) AS total_bidders,
    COUNT(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders,
    COUNT(DISTINCT auction) AS total_auctions,
    COUNT(DISTINCT auction) FILTER (WHERE price >= 1000000) AS rank3_auctions"""

QUERIES = {
    "q4": """
        SELECT Q.category, AVG(Q.final) FROM (
            SELECT MAX(B.price) AS final, A.category FROM auction A, bid B
            WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
            GROUP BY A.id, A.category
        ) Q GROUP BY Q.category""",
    "q9": """
        SELECT id, itemName, description, initialBid, reserve, `dateTime`, expires, seller,
            category, extra, auction, bidder, price, bid_dateTime, bid_extra
        FROM (
            SELECT A.*, B.auction, B.bidder, B.price, B.`dateTime` AS bid_dateTime,
                B.extra AS bid_extra, ROW_NUMBER() OVER (
                    PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime` ASC) AS rownum
            FROM auction A, bid B
            WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
        ) WHERE rownum <= 1""",
    "q14": """
        SELECT auction, bidder, 0.908 * price AS price,
            CASE
                WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
                WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
                ELSE 'otherTime'
            END AS bidTimeType,
            `dateTime`, extra
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    "q15": f"""
        SELECT DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`, {_RANKS}{_PEOPLE}
        FROM bid GROUP BY DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')""",
    "q16": f"""
        SELECT channel, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`,
            MAX(DATE_FORMAT(`dateTime`, 'HH:mm')) AS `minute`, {_RANKS}{_PEOPLE}
        FROM bid GROUP BY channel, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')""",
    "q17": f"""
        SELECT auction, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`, {_RANKS},
            MIN(price) AS min_price, MAX(price) AS max_price, AVG(price) AS avg_price,
            SUM(price) AS sum_price
        FROM bid GROUP BY auction, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')""",
    "q21": """
        SELECT auction, bidder, price, channel,
            CASE
                WHEN LOWER(channel) = 'apple' THEN '0'
                WHEN LOWER(channel) = 'google' THEN '1'
                WHEN LOWER(channel) = 'facebook' THEN '2'
                WHEN LOWER(channel) = 'baidu' THEN '3'
                ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)
            END AS channel_id
        FROM bid WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
            OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')""",
    "q22": """
        SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1,
            SPLIT_INDEX(url, '/', 4) AS dir2, SPLIT_INDEX(url, '/', 5) AS dir3 FROM bid""",
}


def create(t_env, folder: Path, options: str = "") -> None:
    """Write the rows as CSV, of one seed, and create the tables."""
    chance = random.Random(7)

    def time(seconds):
        hours, rest = divmod(seconds, 3600)
        return f"2024-05-0{1 + hours // 24} {hours % 24:02}:{rest // 60:02}:{rest % 60:02}"

    auctions, bids = [], []
    for number in range(150):
        begin = number * 1000
        auctions.append(
            (
                number, f"item {number % 17}", f"some {number % 5}", 10, 100, time(begin),
                time(begin + chance.randrange(60, 4000)), chance.randrange(40), number % 5, "x" * 3,
            )
        )  # fmt: skip
        for _ in range(10):
            channel = chance.choice(["Apple", "Google", "Baidu", f"channel-{number % 9}"])
            more = "&" + f"channel_id={number * 37}" if channel.startswith("ch") else ""
            url = f"https://www.nexmark.com/a{number % 3}/b/{chance.randrange(9)}?query=1{more}"
            bids.append(
                (
                    max(0, number - chance.randrange(3)), chance.randrange(60),
                    int(10 ** chance.uniform(2, 8)), channel, url,
                    time(begin + chance.randrange(1000)), f"y{len(bids)}",
                )
            )  # fmt: skip
    for name, rows in {"bid": bids, "auction": auctions}.items():
        path = folder / name
        path.mkdir()
        lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (path / "rows.csv").write_text(lines, encoding="utf-8")
        t_env.execute_sql(
            f"CREATE TEMPORARY TABLE {name} ({', '.join(TABLES[name])}, "
            "WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) "
            f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}'{options})"
        )


def rows_of(t_env, query: str) -> list[str]:
    """The rows of a query, after all changes, sorted."""
    with t_env.execute_sql(query).collect() as rows:
        return left_of((row.get_row_kind().name in ("INSERT", "UPDATE_AFTER"), row) for row in rows)


def left_of(changes: Iterable[tuple[bool, Iterable[object]]]) -> list[str]:
    """The rows that changes leave, sorted; of each whether it comes, and its row."""
    left: Counter[str] = Counter()
    for comes, row in changes:
        left["|".join(map(str, row))] += 1 if comes else -1
    return sorted(left.elements())


def summary(rows: list[str]) -> dict[str, object]:
    """The first rows, how many there are, and a hash of all."""
    digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return {"rows": rows[:5], "count": len(rows), "hash": digest[:16]}
