"""Engine of several machines: hosts that execute runs, and the server's side, over any transport of bytes."""
