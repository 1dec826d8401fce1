"""torch.compiler, stances, and the settings of Dynamo."""

import torch
import torch._dynamo.config as dynamo_config
import torch.compiler

dynamo_config.recompile_limit = 8
dynamo_config.cache_size_limit = 64
dynamo_config.suppress_errors = False


@torch.compiler.disable
def eager_only_fn(x):
    return x + 1


@torch.compile
def compiled_model(x):
    if torch.compiler.is_compiling():
        x = x * 2
    return eager_only_fn(x)


x = torch.ones(4)
print("default:", compiled_model(x))
with torch.compiler.set_stance("force_eager"):
    print("force_eager:", compiled_model(x))
torch.compiler.set_stance("fail_on_recompile")
try:
    compiled_model(torch.ones(4, dtype=torch.float64))
except RuntimeError as error:
    print("fail_on_recompile:", str(error).partition("\n")[0][:60])
torch.compiler.set_stance("default")
print("recompile_limit:", dynamo_config.recompile_limit)
torch.compiler.reset()
