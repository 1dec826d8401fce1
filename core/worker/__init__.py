"""The process that compiles: a fork server, a keeper for each run, and the run itself. With
`core.accelerator` and `core.samples` the only place that imports torch.
"""
