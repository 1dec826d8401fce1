"""Equal results after a checkpoint was loaded, and a faster call."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=3, loose_ops=12, faster=1.3)
ENTRY = ("build", "factory")


def run(module, call):
    torch.manual_seed(55)
    ensemble = module.build(12)
    x = torch.randn(8, 16)
    results = [call(ensemble, x)]
    names = [f"heads.{head}.{part}" for head in range(12) for part in ("first.weight", "second.bias")]
    with torch.no_grad():
        saved = {key: value + 0.3 * torch.ones_like(value) for key, value in ensemble.state_dict().items()}
    ensemble.load_state_dict(saved)
    mean, deviation = call(ensemble, x)
    (mean + deviation).sum().backward()
    grads = {name: parameter.grad for name, parameter in ensemble.named_parameters() if name in names}
    return [results, mean.detach(), deviation.detach(), grads]


def timed(module):
    ensemble, x = module.build(), torch.randn(8, 16)

    def call():
        with torch.no_grad():
            ensemble(x)

    return call
