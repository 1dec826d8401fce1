"""Memory: what one eager and one compiled call take, each in a process that has done nothing else."""
