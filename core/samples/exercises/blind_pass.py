"""A pass that finds nothing

The pass should remove every double negation before Inductor lowers the graph, and it removes none. Fix the
pass, and leave the model as it is.
"""

import torch
import torch._inductor.config
from torch import Tensor
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files


class RemoveDoubleNegation(CustomGraphPass):
    """Replaces -(-x) by x."""

    def __call__(self, graph: torch.fx.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=torch.neg):
            inner = node.args[0]
            if inner.target == torch.neg:
                node.replace_all_uses_with(inner.args[0])
        graph.eliminate_dead_code()

    def uuid(self) -> bytes:
        return get_hash_for_files((__file__,))


torch._inductor.config.post_grad_custom_post_pass = RemoveDoubleNegation()


def model(x: Tensor) -> Tensor:
    falling = -torch.sin(x)
    return -falling + 1


inputs = (torch.randn(64, 64),)
