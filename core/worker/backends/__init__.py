"""Backends of torch.compile (built-in, from the model's file or a job's code), their inputs and results."""
