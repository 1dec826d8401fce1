"""The C++ compiler does not find Python's headers.

Source: https://github.com/pytorch/pytorch/issues/129351
Run: --backend inductor
Finds: not compiled: failed
Cause: Python's headers
Cure: python3-dev
Expects: graphs 1
"""

import pathlib
import tempfile

import torch
import torch._inductor.config

SCRIPT = """#!/bin/sh
[ "$1" = --version ] && exec g++ --version
echo "main.c:5:10: fatal error: Python.h: No such file or directory" >&2
exit 1
"""
compiler = pathlib.Path(tempfile.mkdtemp()) / "g++"
compiler.write_text(SCRIPT)
compiler.chmod(0o755)
torch._inductor.config.cpp.cxx = (None, str(compiler))


def model(rows):
    return (rows.sin() + rows.cos()) * 3.25


inputs = (torch.randn(64),)

# Cured
torch._inductor.config.cpp.cxx = (None, "g++")
