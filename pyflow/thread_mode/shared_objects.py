"""Objects of modules and of broadcast variables, which tasks use at the same time.

A worker process runs one task at a time. Some functions of libraries are not thread-safe: here one
thread at a time calls them. The bridge interrupts no code of this file (`interruption.cc`): locks
that are taken here are released.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import, importing, let_others_import

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
    """Has one thread at a time do something, however often it begins to."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._of_no_task: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        """Wait until no other thread has the turn."""
        if not self._lock.acquire(blocking=False):
            if importing():
                let_others_import()  # before its turn ends the other thread may have to
            while not self._lock.acquire(timeout=_SECONDS):
                time.sleep(_SECONDS)  # may be interrupted

    def __exit__(self, *_: object) -> None:
        """Have another thread take the turn."""
        self._lock.release()

    def of_call(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls another one in turn."""

        @functools.wraps(call)
        def in_turn(*args: Any, **kwargs: Any) -> Any:
            with self:
                return call(*args, **kwargs)

        return in_turn

    def of_levels(self, name: str) -> Callable[[Any], None]:
        """Have a thread that enters a level keep the turn until it has left its levels.

        Parameters
        ----------
        name : str
            Of the level, in the names of a module's functions.
        """

        def change(module: Any) -> None:
            enter, exit = (getattr(module, f"{verb}_{name}") for verb in ("enter", "exit"))

            @functools.wraps(enter)
            def enter_in_turn(*args: Any, **kwargs: Any) -> Any:
                with self:
                    level = enter(*args, **kwargs)
                    self._lock.acquire()
                self._exits().append(exit_in_turn)
                return level

            @functools.wraps(exit)
            def exit_in_turn(*args: Any, **kwargs: Any) -> None:
                exit(*args, **kwargs)
                self._exits().pop()
                self._lock.release()

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
            exits[-1]()


def _make_models_in_turn(turn: _Turn, modeling_utils: Any) -> None:
    """Have one thread at a time make a model of `transformers`.

    Meanwhile functions of the package and of PyTorch are replaced by others: each thread would
    restore those that it has found, which may be another thread's.
    """
    base = modeling_utils.PreTrainedModel
    for name in ("from_pretrained", "_from_config"):
        setattr(base, name, classmethod(turn.of_call(getattr(base, name).__func__)))
    base.post_init = turn.of_call(base.post_init)
    initial = getattr(modeling_utils, "TORCH_INIT_FUNCTIONS", ())  # of version 4
    replaced = [(modeling_utils.torch.nn.init, name) for name in initial]
    _replace_for_one_thread(turn, modeling_utils, "no_init_weights", replaced)


def _make_models_without_parameters_in_turn(turn: _Turn, name: str, module: Any) -> None:
    """Have a context manager, a copy of that of `accelerate`, change one thread at a time."""
    torch = getattr(module, "torch", None)
    if torch is None:
        return
    replaced = [
        *((torch.nn.Module, name) for name in ("register_parameter", "register_buffer")),
        *((torch, name) for name in ("empty", "zeros", "ones", "full")),
    ]
    _replace_for_one_thread(turn, module, name, replaced)


def _replace_for_one_thread(
    turn: _Turn, module: Any, name: str, replaced: list[tuple[Any, str]]
) -> None:
    """Have what a context manager replaces called by its thread alone, one thread at a time."""
    begin = getattr(module, name, None)
    if begin is None:
        return

    @functools.wraps(begin)
    @contextlib.contextmanager
    def in_turn(*args: Any, **kwargs: Any) -> Iterator[None]:
        with turn:
            before = [getattr(owner, name) for owner, name in replaced]
            with begin(*args, **kwargs):
                for (owner, name), original in zip(replaced, before):
                    replacement = getattr(owner, name)
                    if replacement is not original:
                        setattr(owner, name, _for_this_thread(replacement, original))
                yield

    setattr(module, name, in_turn)


def _for_this_thread(
    replacement: Callable[..., Any], original: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function that is another one for the current thread, and the original for others."""
    thread = threading.get_ident()

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (replacement if threading.get_ident() == thread else original)(*args, **kwargs)

    return call


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
