"""Formats of the DataStream API, under the names of ``pyflink.datastream.formats``."""
