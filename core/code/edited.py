"""Generated code of one graph as the code of a backend, to be edited and run in place of what Inductor generates."""

from __future__ import annotations

import re

# Lines of fx_graph_runnable.py that set the process up: the worker's settings stay as they are.
SET_UP = re.compile(
    r"^(os\.environ\[.*|torch\._(dynamo|inductor|functorch)\S*config\.\S+ = .*|import core\.worker\.\S+)\n",
    re.MULTILINE,
)
MAIN = re.compile(r"^if __name__ == ['\"]__main__['\"]:\n(?:[ \t]+.*\n|\n)*\Z", re.MULTILINE)
OUTPUT_CODE, RUNNABLE = "output_code.py", "fx_graph_runnable.py"
HEADER = '"""{file} of graph {graph} of this run as a backend, to edit. Inductor compiles the other graphs."""\n'
CALLED = """    def run(arguments):
        return call(arguments)

    run._boxed_call = True
    return run
"""
LOWERED = """    edited = make_fx(Repro(), tracing_mode="real")(*map(example, example_inputs))
    return compile_fx_inner(edited, example_inputs, **options)


def example(value):
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device).zero_()
"""
ADAPTER = """

import itertools

import torch
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch.fx.experimental.proxy_tensor import make_fx

graphs = itertools.count()


def backend(graph, example_inputs):
    return compile_fx(graph, example_inputs, inner_compile=compile_edited)


def compile_edited(graph, example_inputs, **options):
    if next(graphs) != {graph}:
        return compile_fx_inner(graph, example_inputs, **options)
{body}"""


def edited_backend(file: str, text: str, graph: int) -> str:
    """Return the code of a backend that runs a debug file in place of the graph with that number.

    `file` is `output_code.py` or `fx_graph_runnable.py`; `graph` counts the graphs that Inductor compiles, from 0.
    """
    body = CALLED if file == OUTPUT_CODE else LOWERED
    kept = MAIN.sub("", SET_UP.sub("", text) if file == RUNNABLE else text).rstrip()
    return HEADER.format(file=file, graph=graph) + "\n" + kept + "\n" + ADAPTER.format(graph=graph, body=body)
