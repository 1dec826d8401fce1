"""Models that no rule was written for, each called with several sizes: of torch.nn, of a graph network, of a library.

Each is the text of a file as the dashboard takes it, below `HEAD`.
"""

HEAD = "import torch\nfrom torch import nn, randn as R\n\ntorch.manual_seed(0)\n"
GRAPH_NETWORK = """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.msg, self.upd = nn.Linear(2 * d, d), nn.GRUCell(d, d)
    def forward(self, h, src, dst):
        m = torch.relu(self.msg(torch.cat([h[src], h[dst]], -1)))
        return self.upd(torch.zeros_like(h).index_add(0, dst, m), h)
class Net(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.layers, self.out = nn.ModuleList(Layer(d) for _ in range(2)), nn.Linear(d, 8)
    def forward(self, h, src, dst, batch):
        for layer in self.layers:
            h = layer(h, src, dst)
        zeros = torch.zeros(4, h.shape[1])
        return self.out(zeros.scatter_reduce(0, batch[:, None].expand_as(h), h, "mean"))
model = Net()
I = torch.randint
calls = [(R(n, 16), I(0, n, (n * 4,)), I(0, n, (n * 4,)), I(0, 4, (n,))) for n in (50, 70, 90)]
"""
T5 = """
from transformers import T5Config, T5ForConditionalGeneration
sizes = dict(d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0)
model = T5ForConditionalGeneration(T5Config(vocab_size=50, **sizes)).eval()
I, lengths, M = torch.randint, ((7, 5), (9, 6), (12, 8)), torch.ones
calls = [
    dict(input_ids=I(0, 50, (2, n)), attention_mask=M(2, n), labels=I(0, 50, (2, m)), use_cache=False)
    for n, m in lengths
]
"""


def _module(body: str, calls: str, start: str = "pass") -> str:
    lines = "\n".join(f"        {line}" for line in body.split("; "))
    start = f"    def __init__(self):\n        super().__init__()\n        {start}\n"
    return f"class M(nn.Module):\n{start}    def forward(self, {lines.lstrip()}\nmodel = M()\ncalls = {calls}\n"


MODELS: dict[str, str] = {
    "gnn": GRAPH_NETWORK,
    "t5": T5,
    "convolution": (
        "model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))\n"
        "calls = [(R(2, 3, n, n),) for n in (8, 12, 16)]\n"
    ),
    "attention": (
        "model = nn.MultiheadAttention(8, 2, batch_first=True).eval()\n"
        "calls = [(x, x, x) for x in (R(2, n, 8) for n in (4, 5, 6))]\n"
    ),
    "bags": (
        "model = nn.EmbeddingBag(10, 4)\n"
        "calls = [(torch.randint(0, 10, (n,)), torch.arange(0, n, 2)) for n in (6, 8, 10)]\n"
    ),
    "keywords": _module("**kw):; return kw['x'] * kw['mask']", "[dict(x=R(n, 4), mask=R(n, 4)) for n in (4, 5, 6)]"),
    "nested": _module("d):; return d['x'] + d['l'][0]", "[({'x': R(n, 4), 'l': [R(n, 4)]},) for n in (4, 5, 6)]"),
    "object": (
        "class Data:\n    def __init__(self, n):\n        self.x, self.idx = R(n, 4), torch.arange(n)\n"
        + _module("data):; return data.x[data.idx]", "[(Data(n),) for n in (4, 5, 6)]")
    ),
    "arithmetic": _module("x, y):; return x.view(-1, 2).sum(1) + y", "[(R(2 * n), R(n)) for n in (4, 5, 6)]"),
    "two sizes": _module(
        "x, y):; return x.sum() + y.sum()", "[(R(4), R(7)), (R(5), R(7)), (R(5), R(9)), (R(6), R(10))]"
    ),
    "equal by chance": _module("x, w):; return x @ w", "[(R(n, 8), R(8, 8)) for n in (8, 5, 6)]"),
    "grown attribute": _module(
        "x):; self.k = torch.cat([self.k, x]); return self.k.sum(0)", "[(R(1, 4),)] * 4", "self.k = torch.zeros(3, 4)"
    ),
    "one among others": _module("x):; return x * 2", "[(R(n),) for n in (4, 1, 5)]"),
    "conditions": _module("x):; return x.sum() if x.shape[0] > 5 else x.mean()", "[(R(n, 3),) for n in (4, 5, 8, 9)]"),
    "one first": _module("x):; return x * 2", "[(R(n),) for n in (1, 2, 3)]"),
    "number": _module("x, n):; return x.view(n, 2) * 2", "[(R(2 * n), n) for n in (4, 5, 6)]"),
    "loop": _module("x):; return sum(x[i] for i in range(x.shape[0]))", "[(R(n, 3),) for n in (4, 5, 6)]"),
    "branch": _module("x):; return x * 2 if x.shape[0] == 4 else x * 3", "[(R(n, 3),) for n in (4, 5, 6)]"),
    "buffer": (
        _module("x):; return self.b.sum() + x", "[]", "self.register_buffer('b', torch.zeros(3, 4))")
        + "def calls():\n    for n in (3, 4, 5):\n        model.b = torch.zeros(n, 4)\n        yield (R(2, 4),)\n"
    ),
    "resumed": _module("x):; y = x * 2; torch._dynamo.graph_break(); return y + 1", "[(R(n, 3),) for n in (4, 5, 6)]"),
}
