"""The process that compiles: a fork server, a supervisor for each run, and the run itself.

With `core.accelerator` and `core.samples` the only place that imports torch.
"""
