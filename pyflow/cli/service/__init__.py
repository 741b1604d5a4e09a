"""The service of ``pyflow rest``: artifacts, the jobs that run them, and what it answers."""
