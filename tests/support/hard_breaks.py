"""Graph breaks and recompiles in code as people write it: methods, helpers, loops, tabs, several a line."""

from tests.support.common_breaks import Case

HEAD = "import logging\nimport random\nimport warnings\n\nimport numpy as np\nimport torch\n\n"
INPUTS = "\n\ninputs = (torch.randn(4, 8),)\n"
CALLS = "\n\nx = torch.randn(4, 8)\ncalls = [(x,), (x,), (x,), (x,), (x,)]\n"


def file(code: str, rest: str = INPUTS) -> str:
    """A file whose code begins in line 8."""
    return f"{HEAD}{code.strip()}{rest}"


MODULE = """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {attribute}

    def forward(self, x):
        {body}


model = Block()
"""


def module(*body: str, attribute: str = "self.scale = 2.0") -> str:
    """A module whose forward begins in line 14."""
    return MODULE.format(attribute=attribute, body="\n        ".join(body))


HARD: dict[str, Case] = {
    "an item in the condition of a method": (
        file(module("if x.sum().item() > 0:", "    x = x * self.scale", "return x.sin()")),
        {"where:14": "repaired"},
    ),
    "a number that is read and chosen by later": (
        file(
            "def model(x):\n    total = x.sum().item()\n    y = x + 1\n    if total > 0:\n        return y.sin()\n"
            "    else:\n        return y.cos()"
        ),
        {"where:9": "repaired", "cond:9": "repaired"},
    ),
    "a helper in a loop": (
        file(
            "def scaled(t, by):\n    print(f'scaling by {by}: {t.shape}')\n    return t * by\n\n\n"
            "def model(x):\n    for by in (2, 3):\n        x = scaled(x, by)\n    return x"
        ),
        {"print_op:9:x": "repaired", "eager_only:9": "partly", "disable:9": "partly"},
    ),
    "a decorated function": (
        file(
            "def traced(function):\n    def inner(*args):\n        return function(*args)\n\n    return inner\n\n\n"
            "@traced\ndef model(x):\n    return x / x.max().item() if x.min().item() < 0 else x"
        ),
        {"where:17": "repaired"},
    ),
    "several breaks a line": (
        file("def model(x):\n    print('a', x.sum()); y = x.mean().item(); print('b', y)\n    return x * y"),
        {
            "print_op:9:x": "repaired",
            "reorder:9": "repaired",
            "setting:capture_scalar_outputs": "repaired",
            "all": "repaired",
        },
    ),
    "a lambda": (
        file("model = lambda x: x.sin() if x.sum() > 0 else x.cos()"),
        {"where:8": "repaired", "cond:8": "repaired"},
    ),
    "tabs, a walrus and a statement over lines": (
        file(
            "def model(x):\n\tif (top := x.max()) > 0:\n\t\tx = x / top\n\tprint(\n\t\t'size',\n\t\tx.size(),\n\t)\n"
            "\treturn x"
        ),
        {"print_op:11:1": "repaired", "eager_only:11": "partly"},
    ),
    "a warning and a log call": (
        file(
            "log = logging.getLogger('model')\n\n\ndef model(x):\n    warnings.warn('about to scale')\n"
            "    log.error(f'''mean {\n        x.mean()}''')\n    return x * 2"
        ),
        {"reorder:12": "repaired", "eager_only:12": "partly", "eager_only:13": "partly"},
    ),
    "random numbers of Python and NumPy": (
        file("def model(x):\n    return x * random.random() + np.random.rand()"),
        {},
    ),
    "arrays and lists": (
        file(
            "def model(x):\n    rows = x.argmax(1).tolist()\n    top = np.sort(x.detach().numpy())[0, 0]\n"
            "    return x[:, rows[0]] + float(top)"
        ),
        {"keep_tensor:11": "repaired"},
    ),
    "assertions of tensors": (
        file(
            "def model(x):\n    y = x.relu()\n    assert not torch.isnan(y).any(), f'NaN in {y.shape}'\n"
            "    assert torch.allclose(y, y), 'not itself'\n    return y"
        ),
        {"check:10": "repaired", "check:11": "repaired", "all": "repaired"},
    ),
    "while on a tensor": (
        file("def model(x):\n    while x.norm() > 1:\n        x = x / 2\n    return x"),
        {},
    ),
}

COUNTED = module("self.seen += 1", "return x * self.seen", attribute="self.seen = 0")
BY_CALL = "\n\nx = torch.randn(4, 8)\ncalls = [(x, {0}), (x, {1}), (x, {2})]\n"

RECOMPILES: dict[str, Case] = {
    "an attribute that counts": (
        file(COUNTED, CALLS),
        {"buffer_attribute:seen": "repaired", "setting:allow_unspec_int_on_nn_module": "partly"},
    ),
    "an attribute that counts and chooses": (
        file(
            module("self.seen += 1", "return x.sin() if self.seen % 2 else x.cos()", attribute="self.seen = 0"), CALLS
        ),
        {"setting:allow_unspec_int_on_nn_module": "partly"},
    ),
    "an attribute that is a float": (
        file(module("self.decay *= 0.5", "return x * self.decay", attribute="self.decay = 1.0"), CALLS),
        {"buffer_attribute:decay": "repaired"},
    ),
    "a global that counts": (
        file("SEEN = 0\n\n\ndef model(x):\n    global SEEN\n    SEEN += 1\n    return x * SEEN", CALLS),
        {"tensor_global:SEEN": "repaired"},
    ),
    "a number of a closure": (
        file(
            "def made():\n    seen = 0\n\n    def inner(x):\n        nonlocal seen\n        seen += 1\n"
            "        return x * seen\n\n    return inner\n\n\nmodel = made()",
            CALLS,
        ),
        {},
    ),
    "a text among the inputs": (
        file("def model(x, how):\n    return x.sin() if how == 'a' else x.cos()", BY_CALL.format("'a'", "'b'", "'a'")),
        {},
    ),
    "a flag among the inputs": (
        file("def model(x, up):\n    return x + 1 if up else x - 1", BY_CALL.format("True", "False", "True")),
        {},
    ),
    "an integer among the inputs": (
        file("def model(x, by):\n    return x * by", BY_CALL.format("2", "3", "4")),
        {"tensor_argument:by": "repaired"},
    ),
    "a dict of another length": (
        file(
            "def model(x, d):\n    return x + sum(d.values())", BY_CALL.format("{'a': 1.0}", "{'a': x, 'b': x}", "{}")
        ),
        {},
    ),
    "gradients on and off": (
        file(
            "def model(x):\n    return x * 2",
            "\n\ndef calls():\n    yield (torch.ones(3),)\n    with torch.no_grad():\n        yield (torch.ones(3),)\n",
        ),
        {},
    ),
    "training and evaluation": (
        file(
            module("return self.drop(x)", attribute="self.drop = torch.nn.Dropout(0.0)"),
            "\n\ndef calls():\n    yield (torch.ones(3),)\n    model.eval()\n    yield (torch.ones(3),)\n",
        ),
        {},
    ),
}
