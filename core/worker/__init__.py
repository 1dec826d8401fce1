"""The process that compiles: a fork server, a keeper for each run, and the run itself. The only place that imports
torch.
"""
