"""What user-defined functions of the Table API run in on executors, in thread and process mode.

The driver pickles a function with what has to be known of its types and of the session's settings.
Unpickled by a task, it is open, and a plain function for PySpark; it is closed when the task ends
(`life_cycle`). `scalar`, `aggregate`, `pandas_functions` and `asynchronous` make the kinds of
functions, `values` and `arrow_values` convert what they get and return.
"""
