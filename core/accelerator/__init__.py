"""The backend `accelerator` of torch.compile: supported ops become programs for a runtime in C++."""
