"""What a Python function costs in each execution mode; run ``python -m benchmarks --help``."""
