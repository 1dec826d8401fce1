"""Times: eager against compiled, each kernel, and the ceilings of the machine."""
