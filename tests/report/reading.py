"""The data of a report, read back from its file."""

import json

import numpy as np


def payload(path):
    """Return what the page is made of."""
    return json.loads(path.read_text(encoding="utf-8").partition('id="payload">')[2].partition("</script>")[0])


def says(figures, truth, digits=4):
    """Say whether all of some figures lie as near to their numbers as they should; a number alone is rounded."""
    value, within = np.moveaxis(np.array(figures, dtype=float), -1, 0)
    rounding = 0.501 * 10.0 ** (1 - digits) * np.maximum(np.abs(value), 0.1)
    return bool((np.abs(value - truth) <= np.maximum(within, rounding) + 1e-9).all())
