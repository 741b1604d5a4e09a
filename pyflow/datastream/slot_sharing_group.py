"""Groups of operators that share slots, and their resources.

A slot of Spark has all operators of a stage; what is said here is kept and read back, and has no
effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = ["MemorySize", "SlotSharingGroup"]

_JAVA = "there is no JVM of Flink; the other methods say all of it"
_UNITS = ("bytes", "kb", "mb", "gb", "tb")


class MemorySize:
    """A number of bytes.

    Parameters
    ----------
    bytes_size : int

    Raises
    ------
    ValueError
        If it is negative.
    """

    def __init__(self, *, bytes_size: int) -> None:
        if bytes_size < 0:
            raise ValueError("bytes must be >= 0")
        self._bytes = bytes_size

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return so many mebibytes, of 1024 * 1024 bytes each."""
        return MemorySize(bytes_size=mebi_bytes << 20)

    def get_bytes(self) -> int:
        """Return the bytes."""
        return self._bytes

    def get_kibi_bytes(self) -> int:
        """Return the whole kibibytes, of 1024 bytes each."""
        return self._bytes >> 10

    def get_mebi_bytes(self) -> int:
        """Return the whole mebibytes, of 1024 kibibytes each."""
        return self._bytes >> 20

    def get_gibi_bytes(self) -> int:
        """Return the whole gibibytes, of 1024 mebibytes each."""
        return self._bytes >> 30

    def get_tebi_bytes(self) -> int:
        """Return the whole tebibytes, of 1024 gibibytes each."""
        return self._bytes >> 40

    @unsupported(_JAVA)
    def get_java_memory_size(self) -> Any:
        """Return Flink's Java object of this size."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySize) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __lt__(self, other: MemorySize) -> bool:
        if not isinstance(other, MemorySize):
            raise TypeError(f"Does not support comparison with non-MemorySize {other}")
        return self._bytes < other._bytes

    def __le__(self, other: MemorySize) -> bool:
        return self == other or self < other

    def __str__(self) -> str:
        """Return the form of settings: a whole number of the largest unit that fits."""
        unit = 0
        while self._bytes and unit + 1 < len(_UNITS) and self._bytes % (1024 << 10 * unit) == 0:
            unit += 1
        return f"{self._bytes >> 10 * unit} {_UNITS[unit]}"


@dataclass(frozen=True)
class SlotSharingGroup:
    """A group of operators that share slots, and its resources. Made by `builder`.

    Parameters
    ----------
    name : str
    cpu_cores : float, optional
        None, as all the others, in a group without resources.
    task_heap_memory, task_off_heap_memory, managed_memory : MemorySize, optional
    external_resources : dict of str to float
    """

    name: str
    cpu_cores: float | None = None
    task_heap_memory: MemorySize | None = None
    task_off_heap_memory: MemorySize | None = None
    managed_memory: MemorySize | None = None
    external_resources: dict[str, float] = field(default_factory=dict, hash=False)

    def get_name(self) -> str:
        """Return the group's name."""
        return self.name

    def get_managed_memory(self) -> MemorySize | None:
        """Return the memory for state and batches; None if the group has no resources."""
        return self.managed_memory

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the memory of the JVM's heap; None if the group has no resources."""
        return self.task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the memory beside the JVM's heap; None if the group has no resources."""
        return self.task_off_heap_memory

    def get_cpu_cores(self) -> float | None:
        """Return the processors; None if the group has no resources."""
        return self.cpu_cores

    def get_external_resources(self) -> dict[str, float]:
        """Return the resources of other kinds, as GPUs."""
        return dict(self.external_resources)

    @unsupported(_JAVA)
    def get_java_slot_sharing_group(self) -> Any:
        """Return Flink's Java object of this group."""

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Return a builder for a group of a name."""
        return SlotSharingGroup.Builder(name)

    class Builder:
        """Makes a `SlotSharingGroup`.

        Parameters
        ----------
        name : str
        """

        def __init__(self, name: str) -> None:
            self._name = name
            self._cpu_cores: float | None = None
            self._task_heap_memory: MemorySize | None = None
            self._task_off_heap_memory: MemorySize | None = None
            self._managed_memory: MemorySize | None = None
            self._external_resources: dict[str, float] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Set the processors.

            Raises
            ------
            ValueError
                If it is not positive.
            """
            if cpu_cores <= 0:
                raise ValueError("The cpu cores should be positive.")
            self._cpu_cores = cpu_cores
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory of the JVM's heap.

            Raises
            ------
            ValueError
                If it is 0.
            """
            if task_heap_memory.get_bytes() == 0:
                raise ValueError("The task heap memory should be positive.")
            self._task_heap_memory = task_heap_memory
            return self

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory of the JVM's heap, in mebibytes."""
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(
            self, task_off_heap_memory: MemorySize
        ) -> SlotSharingGroup.Builder:
            """Set the memory beside the JVM's heap."""
            self._task_off_heap_memory = task_off_heap_memory
            return self

        def set_task_off_heap_memory_mb(
            self, task_off_heap_memory_mb: int
        ) -> SlotSharingGroup.Builder:
            """Set the memory beside the JVM's heap, in mebibytes."""
            return self.set_task_off_heap_memory(MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory for state and batches."""
            self._managed_memory = managed_memory
            return self

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory for state and batches, in mebibytes."""
            return self.set_managed_memory(MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Set how much there is of a resource of another kind."""
            self._external_resources[name] = value
            return self

        def build(self) -> SlotSharingGroup:
            """Return the group.

            Raises
            ------
            ValueError
                If it has resources, but no processors or no memory of the heap.
            """
            memories = (self._task_heap_memory, self._task_off_heap_memory, self._managed_memory)
            if self._cpu_cores is None and memories == (None,) * 3 and not self._external_resources:
                return SlotSharingGroup(self._name)
            if self._cpu_cores is None or self._task_heap_memory is None:
                raise ValueError(
                    "The cpu cores and task heap memory are required when specifying the resource "
                    "of a slot sharing group. You need to explicitly configure them with positive "
                    "value."
                )
            nothing = MemorySize(bytes_size=0)
            return SlotSharingGroup(
                self._name,
                self._cpu_cores,
                self._task_heap_memory,
                self._task_off_heap_memory or nothing,
                self._managed_memory or nothing,
                dict(self._external_resources),
            )
