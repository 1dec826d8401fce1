"""Code for accelerators that are not here: the outcome of every sample, compared with the code of a real device."""
