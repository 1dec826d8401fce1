"""Marks in the profiler's record that say where the call is: at a line of the user's file, in a module, in a kernel of
generated code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.profiler import record_function

from core.worker.measuring.wrappers import Wrapper

CALL, LINE, MODULE, KERNEL, CODE = (f"compileboard {what}" for what in ("call", "line ", "module ", "kernel ", "code "))

Trace = Callable[[FrameType, str, Any], Any]


@contextmanager
def mark_lines(path: str) -> Iterator[None]:
    """Mark each line of a file when it begins, and the line that goes on when a function of the file returns."""
    running: list[int] = []

    def within(frame: FrameType, event: str, _: Any) -> Trace:
        if event == "line":
            running[-1:] = [frame.f_lineno]
            _mark(f"{LINE}{frame.f_lineno}")
        elif event == "return":
            running.pop()
            _mark(f"{LINE}{running[-1] if running else 0}")
        return within

    def called(frame: FrameType, _: str, __: Any) -> Trace | None:
        if frame.f_code.co_filename != path:
            return None
        running.append(frame.f_lineno)
        return within

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def mark_modules(names: Mapping[torch.nn.Module, str]) -> Iterator[None]:
    """Mark the module whose forward begins, and the one that goes on when it returns."""
    running: list[str] = []

    def begins(module: torch.nn.Module, _: Any) -> None:
        running.append(names.get(module, running[-1] if running else ""))
        _mark(f"{MODULE}{running[-1]}")

    def ends(*_: Any) -> None:
        running.pop()
        _mark(f"{MODULE}{running[-1] if running else ''}")

    hooks = (register_module_forward_pre_hook(begins), register_module_forward_hook(ends, always_call=True))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _mark(what: str) -> None:
    with record_function(what):
        pass


@contextmanager
def mark_kernels(codes: list[Wrapper]) -> Iterator[None]:
    """Mark each kernel that generated code calls, with that code's place in the list and the line."""
    with ExitStack() as stack:
        for index, code in enumerate(codes):
            stack.enter_context(code.tapped(_kernel(index), _code(index)))
        yield


def _kernel(index: int) -> Callable[..., Any]:
    def marked(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with record_function(f"{KERNEL}{index} {line} {name}"):
            return function(*args, **kwargs)

    return marked


def _code(index: int) -> Callable[..., Any]:
    def marked(body: Callable[..., Any], *args: Any) -> Any:
        with record_function(f"{CODE}{index}"):
            return body(*args)

    return marked
