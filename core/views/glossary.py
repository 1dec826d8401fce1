"""Glossary of torch's terms, one sentence each, for the help that opens beside a title."""

from core.analysis import COMPILE_TIME

GLOSSARY = {
    "graph": "An FX graph is a program: one node per op, in execution order.",
    "graph break": "Dynamo cannot trace this line. It ends the graph, runs the line in eager Python, and starts a new "
    "graph after it.",
    "backend": "A backend is a callable. `torch.compile` passes it each graph that Dynamo captures, with example "
    "inputs. It returns a callable, which runs whenever the guards of the graph pass.",
    "bytecode": "The instructions that Python runs. Dynamo rewrites them: they load the graph's inputs, call the "
    "compiled graph, and call a resume function after a graph break.",
    "compilation": "Dynamo compiles one Python frame at a time. After a graph break, the called function and the "
    "resume function are separate frames. A failed guard compiles a frame again. A small helper has less than 5 % of "
    "the captured ops. After `torch.compiler.reset`, ids begin again: `[2:0/0]` is the second `[0/0]`.",
    "guard": "A condition on inputs and state. Compiled code is reused only if all its guards pass; they are checked "
    "at every call.",
    "recompile": "When a guard fails, Dynamo compiles the frame again for the new values. After `recompile_limit` "
    "compilations, it runs the frame eagerly.",
    "symbol": "A symbol stands for a size or a Python number, so one compilation serves many values. An unbacked "
    "symbol stands for a data-dependent value.",
    "fusion": "Inductor's scheduler fuses ops into one kernel, so intermediate results do not go through memory.",
    "pass": "A pass is a function that rewrites a graph: it folds constants, removes no-ops, replaces patterns or "
    "reorders ops.",
    "pipeline": "The backend `accelerator` partitions a graph into segments that it has kernels for. It builds a "
    "program of each: a file that a C++ runtime runs without torch and Python.",
    "partition": "AOTAutograd traces forward and backward as one joint graph and partitions it. Values that the "
    "backward needs are saved in memory.",
    "kernel": "A function that Inductor generated, or an extern kernel: a library function that it calls, such as a "
    "matmul.",
    "package": "A `.pt2` file that AOTInductor builds from an exported model: a shared library, its source and the "
    "constants. It accepts the exported sizes and compiles nothing at run time.",
    "compile time": f"{COMPILE_TIME} A phase is a span that torch logs: Dynamo captures, AOTAutograd traces forward "
    "and backward, Inductor lowers, schedules and generates code.",
    "neighbour": "Another compiler or runtime that takes a model of torch: TorchScript, ONNX Runtime, OpenVINO, "
    "OpenXLA, TVM, TensorRT. Most take an exported graph instead of Python code.",
    "numerics": "The reference is the same model in float64. An error is the norm of the difference from float64, over "
    "the norm in float64. Compiled may round differently from eager. It is accurate enough if its error is no larger "
    "than the error of eager.",
    "bit by bit": "Two configurations give equal bits only if each sum adds in the same order. A split reduction, "
    "another algorithm of a library, or a template adds in another order.",
    "torch's log": "The messages that the environment variable `TORCH_LOGS` prints. An artifact, such as `guards`, is "
    "one kind of message; `+dynamo` is everything that Dynamo logs.",
    "steady state": "Calls after the first ones: nothing compiles, and caches are warm. The ratio is eager time over "
    "compiled time, with its 99 % confidence interval in brackets.",
    "peak memory": "The most bytes allocated at one time during a call, without parameters, buffers and inputs. Fusion "
    "lowers it: results between fused ops are not allocated.",
}
