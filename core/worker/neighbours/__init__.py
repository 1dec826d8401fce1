"""Alternative compilers and runtimes on a run's model, compared with eager and timed, each in its own process"""
