"""The command ``python -m obliquerules``, which is the command ``obliquerules``."""

import sys

from obliquerules.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
