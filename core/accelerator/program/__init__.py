"""Programs of the accelerator: types, text form and file format, without torch or a compiler.

docs/program-format.md specifies the file format.
"""
