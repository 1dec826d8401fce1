"""Backends of torch.compile: those that ship, a file's own, code that a job brings; and what each was given and did."""
