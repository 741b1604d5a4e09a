"""The types of the Table API. `pyflow.table.types` has all of them, and what is done with them.

A type is a value: equal to another by what it says, and never changed once it is used (only
`RowType.add`, which builds one, changes it). ``str`` gives its kind, ``BIGINT``, as in PyFlink, and
`DataType.sql` all of it, ``BIGINT NOT NULL``.
"""

from __future__ import annotations

from pyflow.types.logical_types.atomic import MAX_DECIMAL_PRECISION as MAX_DECIMAL_PRECISION
from pyflow.types.logical_types.atomic import MAX_LENGTH as MAX_LENGTH
from pyflow.types.logical_types.atomic import BigIntType as BigIntType
from pyflow.types.logical_types.atomic import BinaryType as BinaryType
from pyflow.types.logical_types.atomic import BitmapType as BitmapType
from pyflow.types.logical_types.atomic import BooleanType as BooleanType
from pyflow.types.logical_types.atomic import CharType as CharType
from pyflow.types.logical_types.atomic import DecimalType as DecimalType
from pyflow.types.logical_types.atomic import DoubleType as DoubleType
from pyflow.types.logical_types.atomic import FloatType as FloatType
from pyflow.types.logical_types.atomic import FractionalType as FractionalType
from pyflow.types.logical_types.atomic import IntegralType as IntegralType
from pyflow.types.logical_types.atomic import IntType as IntType
from pyflow.types.logical_types.atomic import NullType as NullType
from pyflow.types.logical_types.atomic import NumericType as NumericType
from pyflow.types.logical_types.atomic import SmallIntType as SmallIntType
from pyflow.types.logical_types.atomic import TinyIntType as TinyIntType
from pyflow.types.logical_types.atomic import VarBinaryType as VarBinaryType
from pyflow.types.logical_types.atomic import VarCharType as VarCharType
from pyflow.types.logical_types.base import AtomicType as AtomicType
from pyflow.types.logical_types.base import DataType as DataType
from pyflow.types.logical_types.nested import ArrayType as ArrayType
from pyflow.types.logical_types.nested import ListViewType as ListViewType
from pyflow.types.logical_types.nested import MapType as MapType
from pyflow.types.logical_types.nested import MapViewType as MapViewType
from pyflow.types.logical_types.nested import MultisetType as MultisetType
from pyflow.types.logical_types.nested import RowField as RowField
from pyflow.types.logical_types.nested import RowType as RowType
from pyflow.types.logical_types.objects import RawType as RawType
from pyflow.types.logical_types.objects import UserDefinedType as UserDefinedType
from pyflow.types.logical_types.times import MAX_PRECISION as MAX_PRECISION
from pyflow.types.logical_types.times import DateType as DateType
from pyflow.types.logical_types.times import DayTimeIntervalType as DayTimeIntervalType
from pyflow.types.logical_types.times import LocalZonedTimestampType as LocalZonedTimestampType
from pyflow.types.logical_types.times import Resolution as Resolution
from pyflow.types.logical_types.times import TimestampType as TimestampType
from pyflow.types.logical_types.times import TimeType as TimeType
from pyflow.types.logical_types.times import YearMonthIntervalType as YearMonthIntervalType
from pyflow.types.logical_types.times import ZonedTimestampType as ZonedTimestampType
from pyflow.types.logical_types.times import interval_type as interval_type
