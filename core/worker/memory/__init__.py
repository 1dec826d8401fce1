"""Memory of one eager and one compiled call, each in a fresh process."""
