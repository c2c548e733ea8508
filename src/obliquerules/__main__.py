"""The command ``python -m obliquerules``, which is the command ``obliquerules``; alone, it is ``obliquerules demo``."""

import sys

from obliquerules.cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["demo"]))
