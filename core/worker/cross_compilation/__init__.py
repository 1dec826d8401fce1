"""Generating code for an accelerator that is not there: the device that torch is told of, and the compile for it."""
