"""Times of kernels measured on a device, for the prediction of times: `python -m benchmarks.devices`."""
