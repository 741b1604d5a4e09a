"""Windows, their triggers and their assigners; `pyflow.datastream.window` has their names."""
