"""Alternative compilers and runtimes on a run's model, each in a separate process."""
