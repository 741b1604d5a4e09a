"""The session of Spark that a program runs in: its start, its settings, files for executors."""
