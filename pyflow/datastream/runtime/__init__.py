"""On executors: the operators of data streams, their chains, state, timers and windows."""
