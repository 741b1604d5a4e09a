"""On the driver: the graph of a program, and the query of Spark that it becomes."""
