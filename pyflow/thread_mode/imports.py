"""Finds out before a function's first row whether it needs the shared interpreter.

A function that has started cannot move to another interpreter: its side effects would happen
twice, and its state would be lost. Its code, all objects that it can reach, and the modules that
these would import are therefore searched for imports, without running any of them. The standard
library is known and not searched. What unpickles functions or objects when it is called cannot be
searched: it says what it needs by an attribute ``needs_shared_interpreter``, or None.
"""

from __future__ import annotations

import dis
import gc
import sys
import types
from collections.abc import Iterable, Iterator
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from inspect import CO_OPTIMIZED
from typing import Any, ClassVar, NamedTuple

from pyspark import Broadcast

from pyflow.thread_mode import bootstrap

__all__ = ["forget", "needed_by", "refuse_early"]

#: What can import any module: which, only shows when it runs.
_DYNAMIC = {
    ("builtins", "__import__"),
    ("builtins", "eval"),
    ("builtins", "exec"),
    ("importlib", "__import__"),
    ("importlib", "import_module"),
    ("importlib.util", "module_from_spec"),
    ("importlib.resources", "files"),
    ("importlib._bootstrap", "__import__"),
    ("_pickle", "load"),
    ("_pickle", "loads"),
    ("_pickle", "Unpickler"),
    ("pickle", "load"),
    ("pickle", "loads"),
    ("pickle", "Unpickler"),
    ("pkgutil", "resolve_name"),
    ("runpy", "run_module"),
    ("runpy", "run_path"),
    ("shelve", "open"),
}
_DYNAMIC_BUILTINS = {name for module, name in _DYNAMIC if module == "builtins"}
_DYNAMIC_NAMES = {*_DYNAMIC_BUILTINS, "import_module"}

#: What makes the types of callbacks, which isolated interpreters refuse.
_CALLBACKS = {("ctypes", "CFUNCTYPE"), ("ctypes", "PYFUNCTYPE")}
_CALLBACK_NAMES = {name for _, name in _CALLBACKS}

#: Modules of the standard library that import one with single-phase initialisation.
_REFUSED_STANDARD = {
    "curses",
    "pdb",
    "readline",
    "rlcompleter",
    "tkinter",
    "tracemalloc",
    "turtle",
}

#: Packages whose functions import nothing that is refused, other than the modules that they belong
#: to: what an isolated interpreter has of them works there.
_TRUSTED = {"pyflow", "pyspark", "py4j"}

_ATOMS = {bool, bytes, complex, float, int, str, type(None), types.BuiltinFunctionType}

#: So many modules are searched.
_MOST_MODULES = 2000

#: Of so many functions the answers are kept; an application may have new ones all the time.
_MOST_FUNCTIONS = 1000

_IMPORT = dis.opmap["IMPORT_NAME"]
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_CONSTANT = dis.opmap["LOAD_CONST"]
_SMALL_INT = dis.opmap.get("LOAD_SMALL_INT", -1)  # 3.14
_JUMP_IF_FALSE = dis.opmap.get("POP_JUMP_IF_FALSE", -1)


class _Found(Exception):  # noqa: N818  not an error
    """What a function needs the shared interpreter for; the search is over."""


class _Import(NamedTuple):
    module: str
    level: int
    names: tuple[str, ...]


def refuse_early(key: str, roots: Iterable[Any], *, may_fail_late: bool) -> None:
    """Raise if functions cannot, or may not, run in this interpreter, an isolated one.

    Parameters
    ----------
    key : str
        Equal for the same functions.
    roots : iterable
        The functions, and everything that runs with them.
    may_fail_late : bool
        Whether a task that finds out as it runs is tried again. If not, functions of which it
        cannot be known what they import are refused.

    Raises
    ------
    ImportError
        What is needed has been noted then, too.
    """
    needed, possible = _Answers.of(key, roots)
    refused = needed or (None if may_fail_late else possible)
    if refused is not None:
        bootstrap.note_refused(refused)
        raise ImportError(refused)


def needed_by(roots: Iterable[Any]) -> str | None:
    """Return what an interpreter needs to be the shared one for that unpickles some objects.

    Parameters
    ----------
    roots : iterable
        Objects and functions of the program, which may run there.

    Returns
    -------
    str or None
        What is needed, or possibly is.
    """
    needed, possible = _Search(_Modules(), unpickles=True).answer(roots)
    return needed or possible


def forget() -> None:
    """Forget what is known of functions and modules: the application that had them has ended."""
    _Answers.forget()


class _Answers:
    """What is known of functions and modules, while modules are found in the same places."""

    path: tuple[str, ...] = ()
    functions: ClassVar[dict[str, tuple[str | None, str | None]]] = {}
    modules: _Modules

    @classmethod
    def of(cls, key: str, roots: Iterable[Any]) -> tuple[str | None, str | None]:
        """What functions certainly and possibly need the shared interpreter for."""
        if cls.path != (path := tuple(sys.path)):
            cls.forget()
            cls.path = path
        answer = cls.functions.get(key)
        if answer is None:
            if len(cls.functions) >= _MOST_FUNCTIONS:
                cls.functions.clear()
            answer = cls.functions[key] = _Search(cls.modules).answer(roots)
        return answer

    @classmethod
    def forget(cls) -> None:
        cls.path, cls.functions, cls.modules = (), {}, _Modules()


class _Search:
    """A walk through all objects that functions can reach.

    Parameters
    ----------
    modules : _Modules
    unpickles : bool
        Whether the modules of functions and classes are imported, too: they are not here yet.
    """

    def __init__(self, modules: _Modules, *, unpickles: bool = False) -> None:
        self._known_modules = modules
        self._unpickles = unpickles
        self._seen: set[int] = set()
        self._kept: list[Any] = []  # so that no other object gets the identity of one seen
        self._names: set[str] = set()
        self._modules: dict[str, types.ModuleType] = {}
        self._mentioned: set[tuple[str, str]] = set()  # names of modules that have been looked up
        self._possible: str | None = None

    def answer(self, roots: Iterable[Any]) -> tuple[str | None, str | None]:
        try:
            self._visit_all(list(roots))
        except _Found as found:
            return str(found), None
        return None, self._possible

    def _visit_all(self, pending: list[Any]) -> None:
        while pending:
            while pending:
                self._visit(pending.pop(), pending)
            for module in list(self._modules.values()):
                self._look_into(module, pending)

    def _look_into(self, module: types.ModuleType, pending: list[Any]) -> None:
        """What code that knows a module gets from it, by the names that it mentions."""
        contents = vars(module)
        for name in self._names & contents.keys():
            mention = (module.__name__, name)
            if mention in self._mentioned:
                continue
            self._mentioned.add(mention)
            if mention in _CALLBACKS:
                raise _Found(bootstrap.CALLBACKS)
            if mention in _DYNAMIC:
                self._note_dynamic(f"{module.__name__}.{name}")
            elif not _is_standard(module.__name__):
                pending.append(contents[name])

    def _visit(self, thing: Any, pending: list[Any]) -> None:
        kind = type(thing)
        if kind in _ATOMS:
            if kind is types.BuiltinFunctionType:
                self._visit_builtin(thing)
            return
        if self._unpickles:
            self._visit_home(thing if isinstance(thing, (type, types.FunctionType)) else kind)
        # The garbage collector does not track tuples of what it does not track, such as scalars of
        # numpy, whose module has been imported here.
        if id(thing) in self._seen or not (self._unpickles or gc.is_tracked(thing)):
            return
        self._seen.add(id(thing))
        self._kept.append(thing)
        if isinstance(thing, types.FunctionType):
            self._visit_function(thing, pending)
        elif isinstance(thing, types.ModuleType):
            self._visit_module(thing.__name__)
        elif isinstance(thing, type):
            self._visit_class(thing, pending)
        else:
            # Attributes of other objects may be code of the program.
            if _is_ours(kind.__module__):
                # An object of the JVM would ask that for an attribute that it does not have.
                attributes: dict[str, Any] = getattr(thing, "__dict__", {})
                needed = attributes.get("needs_shared_interpreter")
                if needed is not None:
                    raise _Found(needed)
            if isinstance(thing, Broadcast):
                pending.append(thing.value)  # else it is unpickled when the function asks for it
            self._visit_referents(thing, pending)

    def _visit_home(self, named: Any) -> None:
        """The module that a class or function is imported from."""
        module = named.__module__
        if isinstance(module, str) and module != "__main__":
            self._visit_module(module)

    def _visit_referents(self, thing: Any, pending: list[Any]) -> None:
        referents = gc.get_referents(thing)
        kinds = set(map(type, referents))
        if not kinds <= _ATOMS - {types.BuiltinFunctionType}:
            pending.extend(referents)

    def _visit_builtin(self, function: Any) -> None:
        if (function.__module__, function.__name__) in _DYNAMIC:
            self._note_dynamic(f"{function.__module__}.{function.__name__}")

    def _visit_function(self, function: types.FunctionType, pending: list[Any]) -> None:
        module = str(function.__globals__.get("__name__"))
        pending.extend((function.__closure__, function.__defaults__, function.__kwdefaults__))
        pending.append(function.__dict__)
        if _is_standard(module):
            if (module, function.__name__) in _CALLBACKS:
                raise _Found(bootstrap.CALLBACKS)
            if (module, function.__name__) in _DYNAMIC:
                self._note_dynamic(f"{module}.{function.__name__}")
        elif not _is_trusted(module):
            package = function.__globals__.get("__package__") or module.rpartition(".")[0]
            for code in _nested(function.__code__):
                self._visit_code(code, function.__globals__, package, pending)

    def _visit_code(
        self, code: types.CodeType, names: dict[str, Any], package: str, pending: list[Any]
    ) -> None:
        self._names.update(code.co_names)
        for name in code.co_names:
            if name in names:
                pending.append(names[name])
            elif name in _DYNAMIC_BUILTINS:
                self._note_dynamic(name)
        for each in _imports(code):
            for module in _Modules.imported(each, package):
                self._visit_module(module)

    def _visit_class(self, cls: type, pending: list[Any]) -> None:
        if (cls.__module__, cls.__name__) in _DYNAMIC:
            self._note_dynamic(f"{cls.__module__}.{cls.__name__}")
        if not _is_standard(cls.__module__) and not _is_trusted(cls.__module__):
            pending.extend(vars(cls).values())
            pending.extend(cls.__mro__)
            pending.append(type(cls))

    def _visit_module(self, name: str) -> None:
        if name in self._modules:
            return
        loaded = sys.modules.get(name)
        if loaded is not None:
            self._modules[name] = loaded
        needed, possible = self._known_modules.answer(name)
        if needed is not None:
            raise _Found(needed)
        self._possible = self._possible or possible

    def _note_dynamic(self, name: str) -> None:
        self._possible = self._possible or f"modules that only show when it runs ({name})"


class _Modules:
    """What importing modules, by name, would import in turn."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}
        self._codes: dict[str, types.CodeType | None] = {}
        self._imports: dict[tuple[str, bool], tuple[_Import, ...]] = {}
        self._answers: dict[str, tuple[str | None, str | None]] = {}

    def answer(self, name: str) -> tuple[str | None, str | None]:
        """What the import of a module certainly and its functions possibly are refused for."""
        if name not in self._answers:
            self._answers[name] = self._search(name)
        return self._answers[name]

    def _search(self, name: str) -> tuple[str | None, str | None]:
        try:
            at_import = self._reach([name], functions=False)
        except _Found as found:
            return str(found), None
        try:
            self._reach(at_import, functions=True)
        except _Found as found:
            return None, str(found)
        return None, None

    def _reach(self, names: Iterable[str], *, functions: bool) -> list[str]:
        """The modules that are imported along with others, or raises for a refused one."""
        reached: list[str] = []
        seen: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            parent = name.rpartition(".")[0]
            if parent:
                pending.append(parent)
            code = self._code(name)
            if code is None:
                continue
            reached.append(name)
            if len(reached) > _MOST_MODULES:
                raise _Found(f"more than {_MOST_MODULES} modules")
            spec = self._specs[name]
            assert spec is not None
            for each in self._statements(name, code, functions and not _is_trusted(name)):
                pending.extend(self.imported(each, spec.parent or ""))
        return reached

    def _statements(self, name: str, code: types.CodeType, functions: bool) -> tuple[_Import, ...]:
        """The import statements of a module, with or without those of its functions."""
        known = self._imports.get((name, functions))
        if known is None:
            codes = tuple(_nested(code) if functions else _at_import(code))
            names = {each for code in codes for each in code.co_names}
            if not names.isdisjoint(_CALLBACK_NAMES):
                raise _Found(bootstrap.CALLBACKS)
            if functions and not names.isdisjoint(_DYNAMIC_NAMES):
                raise _Found(f"modules that only show when it runs ({name})")
            known = tuple(each for code in codes for each in _imports(code))
            self._imports[name, functions] = known
        return known

    def _code(self, name: str) -> types.CodeType | None:
        """The code of a module that is searched; None if there is no need to."""
        root = name.partition(".")[0]
        if root in _REFUSED_STANDARD:
            raise _Found(name)
        if _is_standard(name) or (root in _TRUSTED and name in sys.modules):
            return None
        if name not in self._codes:
            self._codes[name] = self._read(name)
        return self._codes[name]

    def _read(self, name: str) -> types.CodeType | None:
        spec = self._spec(name)
        if spec is None or spec.loader is None:
            return None
        if isinstance(spec.loader, ExtensionFileLoader):
            if bootstrap.is_refused(spec):
                raise _Found(name)
            return None
        get_code = getattr(spec.loader, "get_code", None)
        if get_code is None:
            return None
        try:
            code: types.CodeType | None = get_code(name)
        except (ImportError, SyntaxError):  # as it would be imported
            return None
        return code

    def _spec(self, name: str) -> ModuleSpec | None:
        """Where a module comes from; None if there is none. Imports no package to find it."""
        if name not in self._specs:
            self._specs[name] = self._find(name)
        return self._specs[name]

    def _find(self, name: str) -> ModuleSpec | None:
        parent = name.rpartition(".")[0]
        path = None
        try:
            if parent:
                package = self._spec(parent)
                if package is None or package.submodule_search_locations is None:
                    return None
                path = list(package.submodule_search_locations)
            for finder in sys.meta_path:
                spec = finder.find_spec(name, path)
                if spec is not None:
                    return spec
        except KeyError:  # a namespace within a package that has not been imported
            pass
        return None

    @staticmethod
    def imported(statement: _Import, package: str) -> Iterator[str]:
        """The modules that a statement may import."""
        base = statement.module
        if statement.level > 0:
            parts = package.split(".")
            parts = parts[: len(parts) - statement.level + 1]
            base = ".".join([*parts, base] if base else parts)
        if base:
            yield base
            if not _is_standard(base):
                yield from (f"{base}.{name}" for name in statement.names if name != "*")


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _is_ours(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "pyflow"


def _is_trusted(module: str) -> bool:
    return module.partition(".")[0] in _TRUSTED


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _at_import(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a module and of its classes, which runs when it is imported."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and not constant.co_flags & CO_OPTIMIZED:
            yield from _at_import(constant)


def _imports(code: types.CodeType) -> Iterator[_Import]:
    """The import statements of a code object, but for those that only type checkers read."""
    instructions = code.co_code
    if _IMPORT not in instructions:
        return
    constants: list[Any] = [None, None]
    argument, skipped_until = 0, 0
    checks_types = False
    for at in range(0, len(instructions), 2):
        operation = instructions[at]
        argument = argument << 8 | instructions[at + 1]
        if operation == _EXTENDED:
            continue
        name = dis.opname[operation]
        if at < skipped_until or name in ("CACHE", "TO_BOOL"):
            pass
        elif operation == _CONSTANT:
            constants = [constants[1], code.co_consts[argument]]
        elif operation == _SMALL_INT:
            constants = [constants[1], argument]
        elif operation == _IMPORT:
            level, names = constants
            yield _Import(code.co_names[argument], level or 0, names or ())
        elif operation == _JUMP_IF_FALSE and checks_types:
            after = at + 2
            while after < len(instructions) and dis.opname[instructions[after]] == "CACHE":
                after += 2
            skipped_until = after + 2 * argument
        if name not in ("CACHE", "TO_BOOL"):
            checks_types = _loads_type_checking(name, code, argument)
        argument = 0


def _loads_type_checking(operation: str, code: types.CodeType, argument: int) -> bool:
    """Whether an instruction loads ``typing.TYPE_CHECKING``."""
    if operation not in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_ATTR"):
        return False
    index = argument if operation == "LOAD_NAME" else argument >> 1
    return index < len(code.co_names) and code.co_names[index] == "TYPE_CHECKING"
