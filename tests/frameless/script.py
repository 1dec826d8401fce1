"""One small model, compiled in a way that leaves no frame of Dynamo, or none alone: export, package, autograd."""

import sys

import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
x = torch.randn(3, 4)
way = sys.argv[1]
if way == "export":
    dynamic = ({0: torch.export.Dim("batch", max=64)},)
    print(torch.export.export(model, (x,), dynamic_shapes=dynamic, strict=True))
elif way == "package":
    program = torch.export.export(model, (x,))
    torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[2])
else:
    torch._dynamo.config.compiled_autograd = True
    compiled = torch.compile(lambda: model(x).sum().backward())
    compiled()
