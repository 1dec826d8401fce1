"""The gallery of sample models: one file each, read by core.job.gallery and run by the worker."""
