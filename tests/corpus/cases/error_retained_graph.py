"""An adaptive weight of the adversarial loss needs two gradients of a compiled decoder.

Source: https://github.com/bytetriper/RAE/issues/74
Run: --script
Finds: donated buffers
Cause: donated|retain_graph|freed|reuse
Cure: donated_buffer|retain_graph|one backward|single
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
decoder = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 8), torch.nn.Tanh())
last = torch.nn.Linear(8, 1)
compiled = torch.compile(torch.nn.Sequential(decoder, last))


def adaptive_weight(loss, adversarial_loss):
    first = torch.autograd.grad(loss, last.weight, retain_graph=True)[0]
    second = torch.autograd.grad(adversarial_loss, last.weight, retain_graph=True)[0]
    return first.norm() / (second.norm() + 1e-4)


latents = torch.ones(2, 4)
compiled(latents).square().mean().backward()
images = compiled(latents)
loss, adversarial_loss = images.square().mean(), images.mean()
weight = adaptive_weight(loss, adversarial_loss)
(loss + weight * adversarial_loss).backward()

# Cured
import torch

torch._functorch.config.donated_buffer = False
torch.manual_seed(0)
decoder = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 8), torch.nn.Tanh())
last = torch.nn.Linear(8, 1)
compiled = torch.compile(torch.nn.Sequential(decoder, last))


def adaptive_weight(loss, adversarial_loss):
    first = torch.autograd.grad(loss, last.weight, retain_graph=True)[0]
    second = torch.autograd.grad(adversarial_loss, last.weight, retain_graph=True)[0]
    return first.norm() / (second.norm() + 1e-4)


latents = torch.ones(2, 4)
compiled(latents).square().mean().backward()
images = compiled(latents)
loss, adversarial_loss = images.square().mean(), images.mean()
weight = adaptive_weight(loss, adversarial_loss)
(loss + weight * adversarial_loss).backward()
