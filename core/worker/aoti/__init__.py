"""Export by `torch.export`, a package by AOTInductor, and calls of the package from Python and from C++."""
