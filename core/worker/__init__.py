"""The process that compiles: a fork server, a supervisor for each run, and the run itself.

Besides `core.accelerator` and `core.samples`, it is the only package that imports torch.
"""
