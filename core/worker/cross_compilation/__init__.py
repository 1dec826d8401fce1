"""Cross-compilation for an accelerator that is not present."""
