"""Names of side outputs."""

from __future__ import annotations

from typing import Any

from pyflow.common.typeinfo import RowTypeInfo, TypeInformation, Types
from pyflow.util.unsupported import unsupported

__all__ = ["OutputTag"]


class OutputTag:
    """The name and type of a side output.

    A function emits an element there by ``yield tag, element``;
    ``DataStream.get_side_output(tag)`` is the stream of them.

    Parameters
    ----------
    tag_id : str
        The name.
    type_info : TypeInformation or list of TypeInformation, optional
        The type of the elements. A list means rows of such fields; None means any objects.

    Raises
    ------
    ValueError
        If the name is empty.
    TypeError
        If the type is none of these.
    """

    def __init__(
        self, tag_id: str, type_info: TypeInformation | list[TypeInformation] | None = None
    ) -> None:
        if not tag_id:
            raise ValueError("OutputTag tag_id cannot be None or empty string")
        if type_info is None:
            type_info = Types.PICKLED_BYTE_ARRAY()
        elif isinstance(type_info, list):
            type_info = RowTypeInfo(type_info)
        elif not isinstance(type_info, TypeInformation):
            raise TypeError("OutputTag type_info must be None, list or TypeInformation")
        self.tag_id = tag_id
        self.type_info: TypeInformation = type_info

    @unsupported("there is no JVM of Flink; tag_id and type_info say all of the tag")
    def get_java_output_tag(self) -> Any:
        """Return Flink's Java object of this tag."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and self.tag_id == other.tag_id

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r}, {self.type_info})"
