"""The linker does not find libcuda when Triton builds its launcher; a backend raises that error here.

Source: https://github.com/pytorch/pytorch/issues/103417
Run: --backend without_libcuda
Finds: not compiled: failed
Cause: libcuda
Cure: LIBRARY_PATH
Lacks: cured
"""

import subprocess

import torch

ERROR = "/usr/bin/ld: cannot find -lcuda: No such file or directory\ncollect2: error: ld returned 1 exit status"


def without_libcuda(graph, example_inputs):
    raise RuntimeError(f"{subprocess.CalledProcessError(1, ['gcc', 'main.c', '-lcuda'])}\n{ERROR}")


def model(rows):
    return rows.sin()


inputs = (torch.randn(4),)
