"""The recompile limit is raised in the main thread, but a worker thread keeps the default.

Source: https://github.com/pytorch/pytorch/issues/186537
Finds: not compiled: over the limit or near the recompile limit or recompiles
Run: --script
Cause: (?i)thread
Cure: (?i)thread|dynamic|in the (same|worker)|TORCH|recompile_limit
Lacks: explained, cured
"""

import threading

import torch

torch._dynamo.config.recompile_limit = 64


@torch.compile(backend="eager", dynamic=False)
def function(x):
    return torch.sin(x) * 2


def work():
    for size in range(2, 14):
        function(torch.randn(size))


thread = threading.Thread(target=work)
thread.start()
thread.join()


def confirmed():
    return torch._dynamo.utils.counters["frames"]["ok"] >= 12


# Cured
import threading

import torch


@torch.compile(backend="eager", dynamic=False)
def function(x):
    return torch.sin(x) * 2


def work():
    torch._dynamo.config.recompile_limit = 64
    for size in range(2, 14):
        function(torch.randn(size))


thread = threading.Thread(target=work)
thread.start()
thread.join()


def confirmed():
    return torch._dynamo.utils.counters["frames"]["ok"] >= 12
