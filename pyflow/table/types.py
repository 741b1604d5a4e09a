"""The types of the Table API, under the names of ``pyflink.table.types``."""

from __future__ import annotations

from pyflow.common.types import Row, RowKind
from pyflow.types.data_types import DataTypes
from pyflow.types.inference import infer as infer
from pyflow.types.inference import infer_rows as infer_rows
from pyflow.types.inference import verifier as verifier
from pyflow.types.logical_types import ArrayType as ArrayType
from pyflow.types.logical_types import AtomicType as AtomicType
from pyflow.types.logical_types import BigIntType as BigIntType
from pyflow.types.logical_types import BinaryType as BinaryType
from pyflow.types.logical_types import BitmapType as BitmapType
from pyflow.types.logical_types import BooleanType as BooleanType
from pyflow.types.logical_types import CharType as CharType
from pyflow.types.logical_types import DataType as DataType
from pyflow.types.logical_types import DateType as DateType
from pyflow.types.logical_types import DayTimeIntervalType as DayTimeIntervalType
from pyflow.types.logical_types import DecimalType as DecimalType
from pyflow.types.logical_types import DoubleType as DoubleType
from pyflow.types.logical_types import FloatType as FloatType
from pyflow.types.logical_types import FractionalType as FractionalType
from pyflow.types.logical_types import IntegralType as IntegralType
from pyflow.types.logical_types import IntType as IntType
from pyflow.types.logical_types import ListViewType as ListViewType
from pyflow.types.logical_types import LocalZonedTimestampType as LocalZonedTimestampType
from pyflow.types.logical_types import MapType as MapType
from pyflow.types.logical_types import MapViewType as MapViewType
from pyflow.types.logical_types import MultisetType as MultisetType
from pyflow.types.logical_types import NullType as NullType
from pyflow.types.logical_types import NumericType as NumericType
from pyflow.types.logical_types import RawType as RawType
from pyflow.types.logical_types import Resolution as Resolution
from pyflow.types.logical_types import RowField as RowField
from pyflow.types.logical_types import RowType as RowType
from pyflow.types.logical_types import SmallIntType as SmallIntType
from pyflow.types.logical_types import TimestampType as TimestampType
from pyflow.types.logical_types import TimeType as TimeType
from pyflow.types.logical_types import TinyIntType as TinyIntType
from pyflow.types.logical_types import (
    UserDefinedType,
)
from pyflow.types.logical_types import VarBinaryType as VarBinaryType
from pyflow.types.logical_types import VarCharType as VarCharType
from pyflow.types.logical_types import YearMonthIntervalType as YearMonthIntervalType
from pyflow.types.logical_types import ZonedTimestampType as ZonedTimestampType
from pyflow.types.spark_types import create_arrow_schema as create_arrow_schema
from pyflow.types.spark_types import from_arrow_type as from_arrow_type
from pyflow.types.spark_types import from_spark as from_spark
from pyflow.types.spark_types import to_arrow_type as to_arrow_type
from pyflow.types.spark_types import to_spark as to_spark
from pyflow.types.syntax import parse as parse

__all__ = ["DataTypes", "Row", "RowKind", "UserDefinedType"]
