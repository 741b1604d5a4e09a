"""Data streams as far as tables take them, under the names of ``pyflink.datastream``.

A stream of a collection becomes a table by ``StreamTableEnvironment.from_data_stream``. There are
no operations on streams here.
"""

from pyflow.datastream.data_stream import DataStream
from pyflow.datastream.execution_mode import RuntimeExecutionMode
from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["DataStream", "RuntimeExecutionMode", "StreamExecutionEnvironment"]
