"""Sources and sinks of data streams, under the names of ``pyflink.datastream.connectors``."""
