"""Objects of modules and of broadcast variables, which tasks use at the same time.

A worker process runs one task at a time. Some functions of libraries are not thread-safe: here one
task at a time calls them. The bridge interrupts no code of this file (`interruption.cc`): locks
that are taken here are released.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import, importing, let_others_import
from pyflow.thread_mode.task_globals import TaskValue, replace_attributes

__all__ = ["install"]

_SECONDS = 0.02


def install() -> None:
    """Change libraries when they are imported."""
    for module, owner, method in (
        # Sets how the tokenizer truncates and pads, and then has it encode.
        ("transformers.tokenization_utils_tokenizers", "TokenizersBackend", "_encode_plus"),
        ("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast", "_batch_encode_plus"),
    ):
        after_import(module, functools.partial(_call_in_turn, owner, method))
    after_import("nltk.corpus.util", _load_corpora_once)
    models = _Turn()
    after_import("transformers.modeling_utils", functools.partial(_make_models_in_turn, models))
    for module, function in (
        ("accelerate.big_modeling", "init_on_device"),
        ("peft.utils.integrations", "_init_on_device"),
        ("transformers.integrations.accelerate", "init_on_device"),
    ):
        change = functools.partial(_make_models_without_parameters_in_turn, models, function)
        after_import(module, change)
    forward_mode = _Turn()
    after_import("torch.autograd.forward_ad", forward_mode.of_levels("dual_level"))
    after_import("torch._functorch.eager_transforms", forward_mode.of_levels("jvp_nesting"))


class _Turn:
    """Has one task at a time do something, however often it begins to.

    An interruption may keep a task from leaving. Others take the turn when it has ended.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._owner: Any = None
        self._count = 0
        self._of_no_task: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        """Wait until no other task has the turn."""
        while not self._take():
            if importing():
                let_others_import()  # before its turn ends the other task may have to
            time.sleep(_SECONDS)  # may be interrupted

    def __exit__(self, *_: object) -> None:
        """Have another task take the turn."""
        with self._guard:
            if self._count and self._is_own():
                self._count -= 1

    def _take(self) -> bool:
        with self._guard:
            if not self._count or getattr(self._owner, "ended", False):
                self._owner, self._count = _task_or_thread(), 0
            elif not self._is_own():
                return False
            self._count += 1
        return True

    def _is_own(self) -> bool:
        """Whether the turn is the current task's, or that of one whose input this thread makes."""
        if self._owner is _task_or_thread():
            return True
        return getattr(self._owner, "thread", None) == threading.get_ident()

    def of_call(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls another one in turn."""

        @functools.wraps(call)
        def in_turn(*args: Any, **kwargs: Any) -> Any:
            with self:
                return call(*args, **kwargs)

        return in_turn

    def of_levels(self, name: str) -> Callable[[Any], None]:
        """Have a task that enters a level keep the turn until it has left its levels.

        Parameters
        ----------
        name : str
            Of the level, in the names of a module's functions.
        """

        def change(module: Any) -> None:
            enter, exit = (getattr(module, f"{verb}_{name}", None) for verb in ("enter", "exit"))
            if enter is None or exit is None:  # before PyTorch 2.3
                return

            @functools.wraps(enter)
            def enter_in_turn(*args: Any, **kwargs: Any) -> Any:
                with self:
                    level = enter(*args, **kwargs)
                    self.__enter__()
                self._exits().append(exit)
                return level

            @functools.wraps(exit)
            def exit_in_turn(*args: Any, **kwargs: Any) -> None:
                exits = self._exits()
                if exit not in exits:
                    exit(*args, **kwargs)  # which raises
                    return
                exits.remove(exit)
                try:
                    exit(*args, **kwargs)
                finally:
                    self.__exit__()

            setattr(module, enter.__name__, enter_in_turn)
            setattr(module, exit.__name__, exit_in_turn)

        return change

    def _exits(self) -> list[Callable[[], None]]:
        """What leaves the levels that the current thread's task has entered, at its end at last."""
        task = current_task.current()
        if task is None:
            return self._of_no_task
        if self not in task.own:
            task.own[self] = []
            task.at_end.append(self._leave_levels)
        exits: list[Callable[[], None]] = task.own[self]
        return exits

    def _leave_levels(self) -> None:
        exits = self._exits()
        while exits:
            exits.pop()()


def _task_or_thread() -> Any:
    return current_task.current() or threading.current_thread()


class _PerTask:
    """Stands for a class or module some of whose attributes each task may replace for itself."""

    def __init__(self, owner: Any, *names: str) -> None:
        values = {
            name: TaskValue(getattr(owner, name), always_of_task=True)
            for name in names
            if hasattr(owner, name)
        }
        vars(self).update(_owner=owner, _values=values)
        for name, value in values.items():
            setattr(owner, name, _calling(value))

    def __getattr__(self, name: str) -> Any:
        value = self._values.get(name)
        return getattr(self._owner, name) if value is None else value.get()

    def __setattr__(self, name: str, new: Any) -> None:
        value = self._values.get(name)
        if value is None:
            setattr(self._owner, name, new)
        else:
            value.set(new)


def _calling(value: TaskValue[Any]) -> Callable[..., Any]:
    @functools.wraps(value.process)
    def call(*args: Any, **kwargs: Any) -> Any:
        return value.get()(*args, **kwargs)

    return call


def _make_models_in_turn(turn: _Turn, modeling_utils: Any) -> None:
    """Have one task at a time make a model of `transformers`.

    Meanwhile functions of the package and of PyTorch are replaced by others: each thread would
    restore those that it has found, which may be another thread's.
    """
    base = modeling_utils.PreTrainedModel
    for name in ("from_pretrained", "_from_config"):
        setattr(base, name, classmethod(turn.of_call(getattr(base, name).__func__)))
    for name in ("post_init", "resize_token_embeddings"):
        setattr(base, name, turn.of_call(getattr(base, name)))
    initial = getattr(modeling_utils, "TORCH_INIT_FUNCTIONS", None)
    if initial is not None:  # of version 4, which has them replaced by functions that do nothing
        module = modeling_utils.torch.nn.init
        replace_attributes(
            module,
            {name: TaskValue(getattr(module, name), always_of_task=True) for name in initial},
        )


def _make_models_without_parameters_in_turn(turn: _Turn, name: str, module: Any) -> None:
    """Have a context manager, a copy of that of `accelerate`, change one task at a time.

    It replaces a method of all modules of PyTorch, here the task's own.
    """
    begin, torch = getattr(module, name, None), getattr(module, "torch", None)
    if begin is None or torch is None:
        return
    modules = SimpleNamespace(**{**vars(torch.nn), "Module": _modules_of_torch(torch)})
    names = {**vars(module), "nn": modules}
    generator = begin.__wrapped__
    changed = types.FunctionType(
        generator.__code__, names, name, generator.__defaults__, generator.__closure__
    )
    managed = contextlib.contextmanager(changed)

    @functools.wraps(begin)
    @contextlib.contextmanager
    def in_turn(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with turn, managed(*args, **kwargs) as value:
            yield value

    names[name] = in_turn
    setattr(module, name, in_turn)


@functools.lru_cache
def _modules_of_torch(torch: Any) -> _PerTask:
    return _PerTask(torch.nn.Module, "register_parameter", "register_buffer")


def _call_in_turn(owner: str, method: str, module: Any) -> None:
    """Have a method of an object called by one thread at a time."""
    changed = getattr(module, owner, None)
    if changed is None:
        return
    call: Callable[..., Any] = getattr(changed, method)
    turns: weakref.WeakKeyDictionary[Any, _Turn] = weakref.WeakKeyDictionary()
    guard = threading.Lock()

    @functools.wraps(call)
    def in_turn(self: Any, *args: Any, **kwargs: Any) -> Any:
        with guard:
            turn = turns.setdefault(self, _Turn())
        with turn:
            return call(self, *args, **kwargs)

    setattr(changed, method, in_turn)


def _load_corpora_once(util: Any) -> None:
    """Have one thread load a corpus: in NLTK 3.8 another one fails meanwhile."""
    loader = util.LazyCorpusLoader
    name = "_LazyCorpusLoader__load"
    load, turn = getattr(loader, name), _Turn()

    @functools.wraps(load)
    def load_once(self: Any) -> None:
        with turn:
            if type(self) is loader:
                load(self)

    setattr(loader, name, load_once)
