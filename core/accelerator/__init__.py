"""The backend `accelerator` of torch.compile: what it can run becomes programs for the runtime in C++."""
