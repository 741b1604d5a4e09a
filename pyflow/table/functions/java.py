"""Functions of JVM classes, as expressions of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from pyflow.types.spark_types import from_spark, to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

    from pyflow.types.logical_types import DataType

__all__ = ["JavaFunction"]


class JavaFunction:
    """A scalar function of a class that implements one of Spark's interfaces UDF0 to UDF22.

    Parameters
    ----------
    class_name : str
    session : SparkSession
        Which gets the function, under a name made of the class's.

    Raises
    ------
    TableException
        If there is no such class, or it implements none of these interfaces.
    """

    kind: ClassVar[str] = "scalar"
    takes_row: ClassVar[bool] = False
    input_types: ClassVar[None] = None

    def __init__(self, class_name: str, session: SparkSession) -> None:
        self.name = class_name
        self._session = session
        self._registered = "pyflow_" + class_name.replace(".", "_").replace("$", "_")
        try:
            session.udf.registerJavaFunction(self._registered, class_name)
        except AnalysisException as error:
            raise TableException(
                f"The class {class_name} is no function here: {error.getMessage().rstrip('.')}. A "
                "function is a class that implements one of org.apache.spark.sql.api.java.UDF0 to "
                "UDF22, in a jar that Spark is started with (pipeline.jars, spark.jars). Those "
                "written for Flink do not run in Spark's JVM."
            ) from error

    def call(
        self, arguments: Sequence[Column], types: Sequence[DataType]
    ) -> tuple[Column, DataType]:
        """Return the call of the function, and the type of its result.

        Parameters
        ----------
        arguments : sequence of Column
        types : sequence of DataType
            Of the arguments.

        Raises
        ------
        TableException
            For another number of arguments than it takes, or other types.
        """
        nothing = [F.lit(None).cast(to_spark(each)) for each in types]
        call = F.call_function(self._registered, *nothing)
        try:
            (field,) = self._session.range(0).select(call).schema
        except AnalysisException as error:
            raise TableException(f"Function {self.name}: {error.getMessage()}") from error
        return F.call_function(self._registered, *arguments), from_spark(field.dataType)
