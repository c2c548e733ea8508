"""What tests share: hypothesis without a clock, with few examples or many (`make laws`)."""

import os
import signal

from hypothesis import settings

# The commands that tests run would otherwise compile all that they import, each time anew, if the user keeps no bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell makes what it starts in the background ignore Ctrl-C, and the commands that tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Without a deadline, since the machine may be busy.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")
