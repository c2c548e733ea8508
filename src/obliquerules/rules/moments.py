"""Moments: dates, times and durations, and the numbers that a block has for them."""

from __future__ import annotations

import datetime

# The seconds of a day: dates and durations count days, times count seconds.
DAY = 86400.0
# Where both begin to count. A time without a zone counts as one in universal time.
EPOCH = datetime.datetime(1970, 1, 1)
# Beyond this many seconds before or after 1970, the calendar of Python ends.
END_OF_TIME = 6e10


def seconds_in(kind: str) -> float:
    """Return how many seconds the unit of a kind of column has."""
    return 1.0 if kind == "time" else DAY


def seconds_since_1970(moment: datetime.date) -> float:
    """Return the seconds from the beginning of 1970 to a date or a time.

    >>> seconds_since_1970(datetime.date(1970, 1, 2)), seconds_since_1970(datetime.datetime(1970, 1, 1, 0, 1))
    (86400.0, 60.0)
    """
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    since = moment - EPOCH
    # As `datetime.timedelta.total_seconds` has it; that of pandas rounds otherwise.
    return ((since.days * 86_400 + since.seconds) * 10**6 + since.microseconds) / 10**6


def date_text(number: float) -> str | None:
    """Return the date that is this many days after the beginning of 1970; None if it is not a whole number of days."""
    return None if not number.is_integer() or abs(number) * DAY > END_OF_TIME else _text(number * DAY)[:10]


def time_text(number: float) -> str | None:
    """Return the time that is this many seconds after the beginning of 1970; None if it is not a whole number of them."""
    return None if not number.is_integer() or abs(number) > END_OF_TIME else _text(number)


def _text(seconds: float) -> str:
    # Formats of strftime do not fill up years of three digits everywhere.
    return (EPOCH + datetime.timedelta(seconds=seconds)).isoformat(" ")


def day_or_days(number: float) -> str:
    """Return the unit of a number of days."""
    return "day" if number == 1.0 else "days"
