"""Entry point of the fork server: `python -m core.worker [cuda|hip]`.

The engine and the server communicate over the server's standard streams. If a backend is named, the server
runs jobs for its targets. The server then simulates the backend's device, so the device need not be
present.
"""

import sys

from core.worker.forkserver import main

if __name__ == "__main__":
    main(*sys.argv[1:2])
