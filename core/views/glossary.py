"""Glossary of torch's terms, one sentence each, for the help that opens beside a title."""

from core.analysis import COMPILE_TIME

GLOSSARY = {
    "graph": "An FX graph is the program that Dynamo captured: one node for each op, in the order of execution.",
    "graph break": "Where Dynamo cannot trace on, it ends the graph, runs the line in eager Python, and starts a new "
    "graph behind it.",
    "backend": "A backend is a callable: `torch.compile` gives it each graph that Dynamo captures, with example "
    "inputs, and calls what it returns wherever the guards of that graph hold.",
    "bytecode": "What Python runs. Dynamo rewrites a function's: it loads what the graph needs, calls the compiled "
    "graph, and after a graph break a function of its own that goes on behind it.",
    "compilation": "Dynamo compiles one Python function at a time: each function that a graph break leaves to be "
    "called, and what goes on after the break, is compiled by itself, and again whenever a guard fails. Small helpers "
    "each hold less than 5 % of the ops that were captured.",
    "guard": "A condition on the inputs and the state that must hold for compiled code to be used again; all are "
    "checked at every call.",
    "recompile": "When a guard fails, Dynamo compiles the frame anew for what it meets now; after `recompile_limit` "
    "times it gives up.",
    "symbol": "A name that stands for a size, or for a Python number, so that one code is good for many; one that is "
    "unbacked stands for what only the data tell.",
    "fusion": "Inductor's scheduler joins ops into one kernel, so that what is between them never goes through memory.",
    "pass": "A function of Inductor's that rewrites a graph: it folds constants, removes what does nothing, matches "
    "patterns, moves ops.",
    "pipeline": "The backend `accelerator` divides a graph into segments that it has kernels for, and builds each into "
    "a program: a file that a runtime in C++ runs without torch and without Python.",
    "partition": "AOTAutograd traces forward and backward as one joint graph and cuts it in two; what crosses the "
    "cut is kept in memory between them.",
    "kernel": "A function that Inductor generated, or an extern kernel: a library's that it calls, such as a matrix "
    "product.",
    "package": "A `.pt2` file that AOTInductor makes of an exported model: a shared library, its source, and the "
    "constants. It takes the sizes that were exported, and nothing is compiled when it runs.",
    "compile time": f"{COMPILE_TIME} A phase is a span of it that torch logs: Dynamo captures, AOTAutograd makes "
    "forward and backward, Inductor lowers, schedules and generates code.",
    "numerics": "Float64 stands for what is right: the same model and numbers, computed with twice the digits or more. "
    "An error is the norm of the difference from it, over its norm. Compiled may round otherwise than eager, and fused "
    "kernels round less; what counts is that it is no further from float64 than eager is.",
    "steady state": "Calls after the first ones, when nothing is compiled any more and caches are warm. The ratio is "
    "eager over compiled; with 99 % confidence it lies between the two numbers in brackets.",
    "peak memory": "The most that the allocator had given out at once during one call, beyond what was there before: "
    "parameters, buffers and inputs. Fusion lowers it, since what is between fused ops is never allocated.",
}
