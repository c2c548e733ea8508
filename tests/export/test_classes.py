"""Many classes, exposures and offsets: every export gives what the model gives."""

import numpy as np
import pytest

from obliquerules.export.registry import find_target
from obliquerules.export.source import Source
from obliquerules.export.verification import BLOCK, compare

from .classes import MODELS
from .engines import ENGINES as EVERYWHERE
from .mixed import mixed_rows

ENGINES = EVERYWHERE | {"Excel": ("excel", {"office": False}), "frames": ("frame", {})}


def options_of(engine, request):
    to, options = ENGINES[engine]
    return to, options | ({"connection": request.getfixturevalue("postgres")} if engine == "PostgreSQL" else {})


def hold_to_the_model(source, engine, n_rows, request):
    to, options = options_of(engine, request)
    target = find_target(to, **options)
    product, rows = target.write(source), mixed_rows(source, n_rows)
    for first in range(0, n_rows, BLOCK):
        block = target.comparable(source, rows[first : first + BLOCK])
        assert len(block) > 0.8 * min(n_rows, BLOCK)
        expected = target.expected(source, block)
        assert 0.0 < np.isnan(expected[:, 0]).mean() < 0.5
        compare(source, block, target.run(product, source, block), first, expected)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", MODELS)
def test_hundreds_of_rows_agree(model, engine, request):
    hold_to_the_model(Source(MODELS[model], contributions=True), engine, 700, request)
