"""The province of an address, by a table of prefixes."""

from __future__ import annotations

import ipaddress
import pkgutil
from collections.abc import Iterator

PREFIXES = "prefixes.csv"
UNKNOWN = "unknown"


def rows() -> Iterator[tuple[ipaddress.IPv4Network, str]]:
    """Yield the prefixes of the table with their provinces; this module may be in an archive."""
    for line in (pkgutil.get_data(__name__, PREFIXES) or b"").decode().splitlines():
        if line and not line.startswith("#"):
            prefix, province = line.split(",")
            yield ipaddress.IPv4Network(prefix), province


class Provinces:
    """The table, ready to be asked."""

    def __init__(self) -> None:
        by_length: dict[int, dict[int, str]] = {}
        for prefix, province in rows():
            shift = 32 - prefix.prefixlen
            by_length.setdefault(shift, {})[int(prefix.network_address) >> shift] = province
        self._longest_first = sorted(by_length.items())

    def of(self, address: str) -> str:
        """Return the province of an address such as ``10.0.0.1``."""
        try:
            number = int(ipaddress.IPv4Address(address))
        except ValueError:
            return UNKNOWN
        for shift, provinces in self._longest_first:
            province = provinces.get(number >> shift)
            if province is not None:
                return province
        return UNKNOWN
