"""The gallery of sample models: one file each, read by core.gallery and run by the worker."""
