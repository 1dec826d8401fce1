"""Second source of a run's numbers: a process with torch only, without Compileboard."""
