"""python -m core: Compileboard without a browser."""

import sys

from core.cli import main

if __name__ == "__main__":
    sys.exit(main())
