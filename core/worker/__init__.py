"""The processes that compile: a fork server, a supervisor for each run, and the run itself.

Only this package, `core.accelerator` and `core.samples` import torch.
"""
