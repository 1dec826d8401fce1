"""A run's numbers by a second way: a process that knows torch alone, nothing of Compileboard."""
