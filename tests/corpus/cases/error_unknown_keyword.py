r"""A wrapper passes an argument that `torch.compile` does not have.

Source: https://github.com/Dao-AILab/quack/pull/183
Run: --script
Finds: unknown setting
Cause: cache_limit|unexpected keyword
Cure: recompile_limit|has no argument|leave .*out
Expects: graphs 1
"""

import torch

settings = {"backend": "eager", "cache_limit": 64}
scaled = torch.compile(lambda rows: rows * 2, **settings)
print(scaled(torch.ones(2)))

# Cured
import torch

settings = {"backend": "eager", "recompile_limit": 64}
scaled = torch.compile(lambda rows: rows * 2, **settings)
print(scaled(torch.ones(2)))
