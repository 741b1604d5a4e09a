"""Windows of tables: by time or by number of rows (PyFlink: ``pyflink.table.window``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pyflow.table.expression import Expression

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


@dataclass(frozen=True)
class GroupWindow:
    """A window that groups rows: :meth:`Table.window` takes it.

    Parameters
    ----------
    kind
        How rows are assigned to windows.
    size
        Length of a window, or the gap that ends a session: an interval, or a number of rows.
    slide
        Distance between the starts of two windows; None except for sliding windows.
    time
        The column by whose time, or in whose order, rows are assigned.
    name
        The name that ``group_by`` and ``select`` refer to.
    """

    kind: Literal["tumble", "slide", "session"]
    size: Expression[Any]
    slide: Expression[Any] | None
    time: Expression[Any]
    name: str


@dataclass(frozen=True)
class _OnTime:
    """A window that only lacks its name."""

    _window: GroupWindow

    def alias(self, alias: str) -> GroupWindow:
        """Name the window; ``group_by`` and ``select`` refer to it by this name.

        Parameters
        ----------
        alias : str
            Name of the window.

        Returns
        -------
        GroupWindow
            The window, complete.
        """
        return replace(self._window, name=alias)


class TumbleWithSizeOnTime(_OnTime):
    """A tumbling window on a time attribute."""


class SlideWithSizeAndSlideOnTime(_OnTime):
    """A sliding window on a time attribute."""


class SessionWithGapOnTime(_OnTime):
    """A session window on a time attribute."""


@dataclass(frozen=True)
class TumbleWithSize:
    """A tumbling window that has its size."""

    _size: Expression[Any]

    def on(self, time_field: Expression[Any]) -> TumbleWithSizeOnTime:
        """Say by which column's time rows are grouped.

        Parameters
        ----------
        time_field : Expression
            In streaming mode a time attribute; in batch mode a timestamp or a BIGINT of
            milliseconds since 1970.

        Returns
        -------
        TumbleWithSizeOnTime
            The window; ``alias`` completes it.
        """
        return TumbleWithSizeOnTime(GroupWindow("tumble", self._size, None, time_field, ""))


class Tumble:
    """Windows of one length that follow each other without overlap."""

    @classmethod
    def over(cls, size: Expression[Any]) -> TumbleWithSize:
        """Start a tumbling window.

        Parameters
        ----------
        size : Expression
            Length of the windows: an interval such as ``lit(10).minutes``, or ``row_interval(n)``.

        Returns
        -------
        TumbleWithSize
            The window; ``on`` says by which column.
        """
        return TumbleWithSize(size)


@dataclass(frozen=True)
class SlideWithSizeAndSlide:
    """A sliding window that has its size and its slide."""

    _size: Expression[Any]
    _slide: Expression[Any]

    def on(self, time_field: Expression[Any]) -> SlideWithSizeAndSlideOnTime:
        """Say by which column's time rows are grouped, as :meth:`TumbleWithSize.on`."""
        return SlideWithSizeAndSlideOnTime(
            GroupWindow("slide", self._size, self._slide, time_field, "")
        )


@dataclass(frozen=True)
class SlideWithSize:
    """A sliding window that has its size."""

    _size: Expression[Any]

    def every(self, slide: Expression[Any]) -> SlideWithSizeAndSlide:
        """Say how far apart the windows start.

        Parameters
        ----------
        slide : Expression
            Distance between the starts of two windows, of the same kind as their size.

        Returns
        -------
        SlideWithSizeAndSlide
            The window; ``on`` says by which column.
        """
        return SlideWithSizeAndSlide(self._size, slide)


class Slide:
    """Windows of one length that start at regular distances and may overlap."""

    @classmethod
    def over(cls, size: Expression[Any]) -> SlideWithSize:
        """Start a sliding window, as :meth:`Tumble.over`."""
        return SlideWithSize(size)


@dataclass(frozen=True)
class SessionWithGap:
    """A session window that has its gap."""

    _gap: Expression[Any]

    def on(self, time_field: Expression[Any]) -> SessionWithGapOnTime:
        """Say by which column's time rows are grouped, as :meth:`TumbleWithSize.on`."""
        return SessionWithGapOnTime(GroupWindow("session", self._gap, None, time_field, ""))


class Session:
    """Windows that end when no row has come for a while."""

    @classmethod
    def with_gap(cls, gap: Expression[Any]) -> SessionWithGap:
        """Start a session window.

        Parameters
        ----------
        gap : Expression
            The interval without rows that ends a window.

        Returns
        -------
        SessionWithGap
            The window; ``on`` says by which column.
        """
        return SessionWithGap(gap)


@dataclass(frozen=True)
class OverWindow:
    """For each row an interval of the rows around it: :meth:`Table.over_window` takes it.

    Parameters
    ----------
    partition_by
        Rows are related to those with the same values of these expressions.
    order_by
        The column that orders them.
    preceding, following
        The first and the last row of the interval; None where the default holds: all rows before,
        and the current row.
    name
        The name that ``Expression.over`` refers to.
    """

    partition_by: tuple[Expression[Any], ...]
    order_by: Expression[Any]
    preceding: Expression[Any] | None
    following: Expression[Any] | None
    name: str


@dataclass(frozen=True)
class OverWindowPartitionedOrderedPreceding:
    """An OVER window that has the first row of its interval."""

    _window: OverWindow

    def alias(self, alias: str) -> OverWindow:
        """Name the window; ``Expression.over`` refers to it by this name."""
        return replace(self._window, name=alias)

    def following(self, following: Expression[Any]) -> OverWindowPartitionedOrderedPreceding:
        """Say where the interval ends.

        Parameters
        ----------
        following : Expression
            ``CURRENT_ROW`` or ``CURRENT_RANGE``; in batch mode also an interval or a number of
            rows after the current one.

        Returns
        -------
        OverWindowPartitionedOrderedPreceding
            The window; ``alias`` completes it.
        """
        return OverWindowPartitionedOrderedPreceding(replace(self._window, following=following))


@dataclass(frozen=True)
class OverWindowPartitionedOrdered:
    """An OVER window that has its order."""

    _window: OverWindow

    def alias(self, alias: str) -> OverWindow:
        """Name the window, which takes all rows up to the current one."""
        return replace(self._window, name=alias)

    def preceding(self, preceding: Expression[Any]) -> OverWindowPartitionedOrderedPreceding:
        """Say where the interval begins.

        Parameters
        ----------
        preceding : Expression
            ``UNBOUNDED_ROW``, ``UNBOUNDED_RANGE``, an interval, or ``row_interval(n)`` before the
            current row.

        Returns
        -------
        OverWindowPartitionedOrderedPreceding
            The window; ``alias`` completes it.
        """
        return OverWindowPartitionedOrderedPreceding(replace(self._window, preceding=preceding))


@dataclass(frozen=True)
class OverWindowPartitioned:
    """An OVER window that has its partitioning."""

    _partition_by: tuple[Expression[Any], ...]

    def order_by(self, order_by: Expression[Any]) -> OverWindowPartitionedOrdered:
        """Say which column orders the rows: in streaming mode a time attribute."""
        return OverWindowPartitionedOrdered(
            OverWindow(self._partition_by, order_by, None, None, "")
        )


class Over:
    """Starts OVER windows."""

    @classmethod
    def order_by(cls, order_by: Expression[Any]) -> OverWindowPartitionedOrdered:
        """Start a window over all rows, as :meth:`OverWindowPartitioned.order_by`."""
        return OverWindowPartitioned(()).order_by(order_by)

    @classmethod
    def partition_by(cls, *partition_by: Expression[Any]) -> OverWindowPartitioned:
        """Start a window over the rows with the same values.

        Parameters
        ----------
        *partition_by : Expression
            What the rows have in common.

        Returns
        -------
        OverWindowPartitioned
            The window; ``order_by`` says in which order.
        """
        return OverWindowPartitioned(tuple(partition_by))
