"""Objects that modules keep and broadcast variables have, which tasks use at the same time.

A worker process runs one task at a time. Methods of some libraries are not thread-safe: here one
thread at a time calls them.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode.module_imports import after_import

__all__ = ["install"]


def install() -> None:
    """Change libraries when they are imported."""
    for module, owner, method in (
        # Sets how the tokenizer truncates and pads, and then has it encode.
        ("transformers.tokenization_utils_tokenizers", "TokenizersBackend", "_encode_plus"),
        ("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast", "_batch_encode_plus"),
    ):
        after_import(module, functools.partial(_call_in_turn, owner, method))
    after_import("nltk.corpus.util", _load_corpora_once)


def _call_in_turn(owner: str, method: str, module: Any) -> None:
    """Have a method of an object called by one thread at a time."""
    changed = getattr(module, owner, None)
    if changed is None:
        return
    call: Callable[..., Any] = getattr(changed, method)
    locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    guard = threading.Lock()

    @functools.wraps(call)
    def in_turn(self: Any, *args: Any, **kwargs: Any) -> Any:
        with guard:
            lock = locks.setdefault(self, threading.RLock())
        with lock:
            return call(self, *args, **kwargs)

    setattr(changed, method, in_turn)


def _load_corpora_once(util: Any) -> None:
    """Have one thread load a corpus: in NLTK 3.8 another one fails meanwhile."""
    loader = util.LazyCorpusLoader
    name = "_LazyCorpusLoader__load"
    load, lock = getattr(loader, name), threading.RLock()

    @functools.wraps(load)
    def load_once(self: Any) -> None:
        with lock:
            if type(self) is loader:
                load(self)

    setattr(loader, name, load_once)
