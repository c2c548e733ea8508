"""What all tests share: where the benchmark data are, and hypothesis without a clock (the machine may be busy)."""

import os

from hypothesis import settings

# The commands that tests run would otherwise compile all that they import, each time anew, if the user keeps no bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
