"""What tests share: hypothesis without a clock, with few examples or many (`make laws`), and few repetitions of folds."""

import os
import signal

import pytest
from hypothesis import settings

from obliquerules.boosting import cross_validated

# The commands that tests run would otherwise compile all that they import, each time anew, if the user keeps no bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell makes what it starts in the background ignore Ctrl-C, and the commands that tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Without a deadline, since the machine may be busy.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")


@pytest.fixture(scope="module")
def few_repetitions():
    """Assign rows to folds at most three times, not ten: enough for a test of anything but the size that is chosen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_validated, "REPETITIONS", 3)
        yield
