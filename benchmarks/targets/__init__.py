"""Code for accelerators that are not here: what comes of every sample, and whether it is what a device would run."""
