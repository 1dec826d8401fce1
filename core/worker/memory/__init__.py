"""Memory of one eager and one compiled call; on a CPU, each in a separate process."""
