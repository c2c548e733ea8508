"""What all tests share: hypothesis without a clock (the machine may be busy), with few examples or many (`make laws`)."""

import os

from hypothesis import settings

# The commands that tests run would otherwise compile all that they import, each time anew, if the user keeps no bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")
