"""Times: eager compared with compiled, each kernel, and the machine's roofline."""
