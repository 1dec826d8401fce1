"""A backend that looks up each op in a registry, compiles the graph to a linear program, and runs that."""

import torch


def my_accel_relu(x):
    print("  [MY_ACCEL] relu called:", x.shape)
    return torch.relu(x)


def my_accel_matmul(x, y):
    print("  [MY_ACCEL] matmul called:", x.shape, "@", y.shape)
    return torch.matmul(x, y)


def my_accel_softmax(x, dim=-1):
    print(f"  [MY_ACCEL] softmax called: {x.shape}, dim={dim}")
    return torch.softmax(x, dim=dim)


OP_REGISTRY = {torch.matmul: my_accel_matmul, torch.relu: my_accel_relu, torch.softmax: my_accel_softmax}


def compile_graph(gm):
    return [(node, OP_REGISTRY.get(node.target)) for node in gm.graph.nodes]


def my_accel_backend(gm, example_inputs):
    print("MY_ACCEL BACKEND - GRAPH RECEIVED")
    calls = [node for node in gm.graph.nodes if node.op == "call_function"]
    for node in calls:
        print(f"  Found op: {node.target.__name__} -", "SUPPORTED" if node.target in OP_REGISTRY else "FALLBACK")
    program = compile_graph(gm)
    print(f"Compiling graph -> {len(calls)} call_function nodes")
    print("Program length:", len(program))

    def custom_executor(*args):
        print("--- EXECUTING ON MY_ACCEL ---")
        values, inputs = {}, iter(args)
        for node, kernel in program:
            if node.op == "placeholder":
                values[node] = next(inputs)
            elif node.op == "output":
                return torch.fx.node.map_arg(node.args[0], values.get)
            else:
                operands = torch.fx.node.map_arg((node.args, node.kwargs), values.get)
                values[node] = (kernel or node.target)(*operands[0], **operands[1])
        return None

    return custom_executor


@torch.compile(backend=my_accel_backend)
def model_to_trace(x, w):
    return torch.softmax(torch.matmul(torch.relu(x), w), dim=-1)


output = model_to_trace(torch.randn(4, 8), torch.randn(8, 16))
print("Final output shape:", output.shape)
print(f"Output sum: {output.sum():.4f}")
print("--- Second call (should use cached graph) ---")
model_to_trace(torch.randn(4, 8), torch.randn(8, 16))
