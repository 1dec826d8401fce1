"""python -m core.worker: the fork server, spoken to by the Runner through its standard streams."""

from core.worker.forkserver import main

if __name__ == "__main__":
    main()
