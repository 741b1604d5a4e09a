"""On executors: keyed state, its TTL, timers, the life cycle of functions, and their metrics."""
