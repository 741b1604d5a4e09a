"""On the driver: how operators are put into a query."""
