"""python -m core.worker [cuda | hip]: the fork server, spoken to by the engine through its standard streams.

With a backend it is one for targets: torch is told of an absent device of that backend before it is imported.
"""

import sys

from core.worker.forkserver import main

if __name__ == "__main__":
    main(*sys.argv[1:2])
