"""Backends of torch.compile: their selection, and records of their inputs and results."""
