"""What all tests share: where the benchmark data are, and hypothesis without a clock (the machine may be busy)."""

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
