"""A model exported by `torch.export`, packaged by AOTInductor, and run from Python and from C++."""
