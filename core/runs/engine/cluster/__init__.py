"""Engine of several machines: hosts that execute runs, and the server's side.

Any transport of bytes can connect the two.
"""
