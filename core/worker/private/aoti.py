"""Names of AOTInductor: what makes a package, and what loads it."""

from core.worker.private.name import PrivateName, rows

AOTI = (
    *rows("torch._inductor", "makes a package, and loads it", "aoti_compile_and_package", "aoti_load_package"),
    PrivateName("torch._dynamo.eval_frame", "OptimizedModule._orig_mod", "the model that the file itself compiled"),
)
