"""Where runs are executed: `protocol` is the seam, `opening` the constructor, `local` this machine's engine."""
