"""python -m core.worker [cuda

hip]: the fork server, which the engine talks to over its standard streams. | With a backend it serves targets: before
torch is imported, it is given a device of that backend that is not present.
"""

import sys

from core.worker.forkserver import main

if __name__ == "__main__":
    main(*sys.argv[1:2])
