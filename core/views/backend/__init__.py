"""Backend calls of a run: the contract with torch.compile, code, executions, and backend output."""
