"""Cross-compilation for an accelerator that is not present: its simulated properties, and the compilation."""
