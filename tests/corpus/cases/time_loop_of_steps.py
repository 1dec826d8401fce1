"""A simulation of many steps is unrolled.

Source: https://github.com/pytorch/pytorch/issues/111441
Finds: unrolled loop
Cause: loop
Cure: body|scan|nested_compile_region
Expects: graphs 1
Run: --backend inductor
"""

import torch


def model(errors, noise):
    for number in range(64):
        step = noise[number]
        losses = (errors * step).sum(1)
        errors = errors - 0.01 * step * losses[:, None]
    return errors


inputs = (torch.ones(4, 3), torch.randn(64, 4, 3, generator=torch.Generator().manual_seed(0)))


# Cured
@torch.compiler.nested_compile_region
def advanced(errors, step):
    losses = (errors * step).sum(1)
    return errors - 0.01 * step * losses[:, None]


def model(errors, noise):
    for number in range(64):
        errors = advanced(errors, noise[number])
    return errors


def confirmed():
    import torch._inductor.metrics

    return torch._inductor.metrics.generated_kernel_count < 10
