"""Entry point of the fork server: `python -m core.worker [cuda|hip]`.

The engine talks to it over its standard streams. With a backend, it serves targets: it replaces that backend's device
before torch is imported, so the device need not be present.
"""

import sys

from core.worker.forkserver import main

if __name__ == "__main__":
    main(*sys.argv[1:2])
