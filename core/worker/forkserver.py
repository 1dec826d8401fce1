"""The warm process: it has imported torch, Dynamo and Inductor, and forks a keeper for each run.

It starts no thread and touches no accelerator, so that a fork is safe on every device. Requests are JSON lines on
standard input, answers JSON lines on standard output:

                                     ← {"ready": true}, or {"failed": "<why>"} and the end
    → {"run": "<run directory>"}     ← {"started": "<run directory>", "pid": 123}
    → {"probe": true}                ← {"environment": {…}}
                                     ← {"ended": 123}
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import WorkerError

POLL_S = 0.05
MODULES = (
    "torch._dynamo",
    "torch._dynamo.backends.debugging",
    "torch._functorch.aot_autograd",
    "torch._inductor.compile_fx",
    "torch._inductor.codegen.cpp",
    "torch._inductor.codegen.triton",
    "torch._inductor.codegen.cpp_wrapper_cpu",
    "torch._inductor.fx_passes.joint_graph",
    "torch._inductor.fx_passes.post_grad",
    "core.worker.keeper",
    "core.worker.run",
    "core.worker.warmup",
)
CACHED = (
    ("torch._inductor.codecache", "torch_key"),
    ("torch._inductor.runtime.triton_compat", "triton_key"),
    ("torch._inductor.codecache", "triton_key"),
)
ANSWERS_FD = 200


def main(backend: str = "") -> None:
    """Serve until standard input closes; keepers are told of this process's death by the kernel.

    With a `backend`, serve runs for targets of it: see `core.worker.absent`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.dup2(1, ANSWERS_FD)
    answers = os.fdopen(ANSWERS_FD, "w", buffering=1)
    os.dup2(2, 1)
    try:
        _prepare_target(backend)
    except WorkerError as error:
        print(json.dumps({"failed": str(error)}), file=answers)
        return
    _import_everything()
    print(json.dumps({"ready": True}), file=answers)
    pending = b""
    while True:
        readable, _, _ = select.select([0], [], [], POLL_S)
        if readable:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                print(json.dumps(_answer(json.loads(line))), file=answers)
        for pid in _reaped():
            print(json.dumps({"ended": pid}), file=answers)


def _prepare_target(backend: str) -> None:
    """Import torch with the absent device in its place."""
    if not backend:
        return
    from core.worker.absent.device import pretend
    from core.worker.absent.shim import load_shim, set_guard

    shim = load_shim(Path(os.environ["COMPILEBOARD_CACHE"]))
    pretend(backend)
    set_guard(shim, backend)


def _import_everything() -> None:
    """Do once what every compilation would do again: imports, and what torch caches in the process."""
    for name in MODULES:
        importlib.import_module(name)
    import torch

    from core.worker.warmup import resolve_vector_math

    torch._dynamo.list_backends(exclude_tags=())
    resolve_vector_math()
    for module, function in CACHED:
        compute = getattr(importlib.import_module(module), function, None)
        if compute is not None:
            compute()
    if not torch.cuda.is_available():
        _prepare_for_cpu()
    gc.collect()
    gc.freeze()


def _prepare_for_cpu() -> None:
    """Ask what vectors the CPU has, and trace the patterns of Inductor's passes: the tracing would touch a GPU.

    `lazy_init` is called exactly as Inductor calls it: its result is cached by the arguments, and patterns may be
    registered once only.
    """
    import torch
    from torch._inductor import cpu_vec_isa
    from torch._inductor.fx_passes import joint_graph, post_grad

    from core.worker.environment import compiler

    if compiler() is not None:
        cpu_vec_isa.valid_vec_isa_list()
    joint_graph.lazy_init(torch.device("cpu"))
    post_grad.lazy_init()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if "probe" in request:
        from core.worker.environment import probe

        return {"environment": _in_child(probe)}
    if "warm_up" in request:
        from core.worker.warmup import warm_up

        return {"warming": _fork(warm_up)}
    from core.worker.keeper import KEEPER_SIGNALS, keep

    path = Path(request["run"])
    signal.pthread_sigmask(signal.SIG_BLOCK, KEEPER_SIGNALS)
    pid = _fork(lambda: keep(path))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, KEEPER_SIGNALS)
    return {"started": str(path), "pid": pid}


def _fork(task: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _let_go()
            task()
            code = 0
        finally:
            os._exit(code)
    return pid


def _let_go() -> None:
    """Close the streams to the Runner: a child must not speak for this process."""
    os.close(ANSWERS_FD)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _in_child(task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run something that may touch a device in a process of its own."""
    reader, writer = os.pipe()

    def send() -> None:
        os.write(writer, json.dumps(task()).encode())

    pid = _fork(send)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(data) if data else {}


def _reaped() -> list[int]:
    pids: list[int] = []
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return pids
        if pid == 0:
            return pids
        pids.append(pid)
