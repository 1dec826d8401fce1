"""AOTInductor packages: `torch.export`, packaging, and calls of the package from Python and C++."""
