"""Built-in functions that Spark does not have, in Python. Only the standard library is used."""
