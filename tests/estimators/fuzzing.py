"""Broken model files, run as a program of its own: each is loaded within limits of memory and of processor time.

``python fuzzing.py DIRECTORY COUNT SEED`` changes the model files of a directory so many times, and writes what became of them
as JSON: how many were refused, how many gave a model that predicts, what failed, the slowest load and the memory that it took.
"""

import collections
import copy
import json
import os
import random
import re
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np

from obliquerules import ModelFileError, RuleEnsemble, load_model
from obliquerules.rules import Block

MEGABYTE = 2**20
MOST_MEGABYTES = 200
MOST_SECONDS = 10.0
TOKENS = [
    *(b"NaN Infinity -Infinity -0 -0.0 0 1 2 -1 1e999 -1e999 1e308 5e-324 1e-400 1.5 01 +1 .5 true false null".split()),
    *(b'"" "a" {} [] [[]] {"a":1} , : " \\ \\u0000 \\ud800 \\u00e9 { } [ ] /* // \xff \x00 \xef\xbb\xbf'.split()),
    *(b"2147483647 2147483648 9223372036854775808 1000000 1000001 999999999999999999999999".split()),
    b"9" * 400,
    b"9" * 5000,
    b"1." + b"3" * 5000,
    b"[" * 900,
    b"[" * 100_000,
    b'{"a":' * 5000,
    b" " * 5000,
]
SMALL = [
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    -1,
    -0.0,
    0.5,
    1.0,
    1e308,
    -1e308,
    5e-324,
    1e-310,
    2**31,
    2**53 + 1,
    2**63,
    2**64,
    10**30,
]
VALUES = [
    *SMALL,
    *(10**400, 999_999, 10**6, 10**6 + 1, float("inf"), float("nan"), "", "a", "x" * 1000, "\x00", "\ud800", "é", "__class__"),
    *(
        "LLTBoostClassifier",
        "TGBRegressor",
        "LTRNetRegressor",
        "DRNetClassifier",
        "poisson",
        "gamma",
        "tweedie",
        "squared",
        "logistic",
        "1.0",
        "2.0",
    ),
    *([], {}, [[]], [0], [0, 0], [1e308, 1e308], [None], {"type": "int", "values": [0, 1]}, {"weight": 1.0, "condition": []}),
    *(list(range(1000)), [0.5] * 10_000, ["a"] * 1000, {str(number): number for number in range(1000)}),
]


def changed_bytes(raw: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a file with one change of its bytes."""
    start = rng.randrange(len(raw) + 1)
    stop = min(len(raw), start + rng.choice([0, 1, 1, 2, 5, 40]))
    there = rng.randrange(len(other) + 1)
    kind = rng.randrange(7)
    if kind == 0:
        return raw[:start] + bytes(byte ^ (1 << rng.randrange(8)) for byte in raw[start:stop]) + raw[stop:]
    if kind == 1:
        return raw[:start] + rng.randbytes(stop - start) + raw[stop:]
    if kind == 2:
        return raw[:start] + raw[stop:]
    if kind == 3:
        return raw[:stop] + raw[start:stop] * rng.choice([1, 2, 1000]) + raw[stop:]
    if kind == 4:
        return raw[:start] + rng.choice(TOKENS) + raw[stop:]
    if kind == 5:
        return raw[:start] + other[there : there + rng.choice([1, 10, 1000])] + raw[stop:]
    return raw[:start]


def places(node: object) -> list[tuple[object, object]]:
    """Return all containers of a document with each of their keys or positions."""
    found = []
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            found += places(node[key])
    return found


def changed_document(document: dict, other: dict, rng: random.Random) -> bytes:
    """Return a file with one or two changes of what stands where."""
    for _ in range(rng.choice([1, 1, 2])):
        found = places(document)
        if found:
            change_place(*rng.choice(found), rng.choice(places(other)), rng)
    text = json.dumps(document)
    if rng.randrange(20) == 0:
        key = rng.choice(["path", "kind", "n_features", "weights", "weight", "intercept", "feature_names", "estimator"])
        text = text.replace(f'"{key}":', f'"{key}": {json.dumps(rng.choice(SMALL))}, "{key}":', rng.choice([1, -1]))
    return text.encode("utf-8", errors="surrogatepass")


def change_place(node, key, elsewhere: tuple, rng: random.Random) -> None:
    """Change one entry of a container."""
    kind = rng.randrange(6)
    if kind == 0:
        del node[key]
    elif kind == 1:
        node[key] = copy.deepcopy(elsewhere[0][elsewhere[1]])
    elif kind == 2 and isinstance(node[key], list):
        node[key] = node[key] * rng.choice([0, 2, 3, 100])
    elif kind == 3:
        node[key] = [node[key]]
    elif kind == 4 and isinstance(node, dict):
        node[rng.choice(["", "weight", "condition", "note", "max_rules", key + "_"])] = node.pop(key)
    else:
        node[key] = copy.deepcopy(rng.choice(VALUES))


def rule(columns: list[int]) -> dict:
    """Return a rule with one condition on these columns."""
    return {"weight": 1.0, "condition": [{"columns": columns, "weights": [1.0] * len(columns), "threshold": 0.5}]}


def ensemble(rules: list[dict]) -> dict:
    return {"intercept": 0.0, "rules": rules}


def doubled(fields: int) -> str:
    """Return the inside of an object whose last field stands in it twice."""
    return ", ".join(f'"field {number}": 0' for number in [*range(fields), fields - 1])


def with_double(document: dict, size: int) -> bytes:
    """Return a file in which an object, of the parameters or of the whole, has the last of many fields twice."""
    return json.dumps(document | {"parameters": "HERE"}).replace('"HERE"', f"{{{doubled(size)}}}").encode()


def wide(document: dict, size: int) -> bytes:
    """Return a short file that asks for a million columns on each member of a path."""
    changed = {"n_features": 10**6, "feature_names": None, "chosen": 0, "path": [ensemble([])] * size}
    return json.dumps(document | changed).encode()


def named(document: dict, size: int, names: list[str], path: list[dict]) -> bytes:
    changed = document | {"n_features": size, "feature_names": names, "chosen": len(path) - 1, "path": path}
    return json.dumps({key: value for key, value in changed.items() if key != "edits"}).encode()


def many_names(document: dict, size: int) -> bytes:
    """Return a file with many names and a long path, in which nothing is wrong."""
    return named(document, size, [f"name {column}" for column in range(size)], [ensemble([])] * size)


def double_name(document: dict, size: int) -> bytes:
    names = [f"name {column}" for column in range(size - 1)]
    return named(document, size, [*names, names[-1]], [ensemble([])])


def long_condition(document: dict, size: int) -> bytes:
    return named(document, size, [f"n{column}" for column in range(size)], [ensemble([rule(list(range(size)))])])


def double_column(document: dict, size: int) -> bytes:
    return named(document, size, [f"n{column}" for column in range(size)], [ensemble([rule([*range(size - 1), size - 2])])])


def many_rules(document: dict, size: int) -> bytes:
    return named(document, 2, ["a", "b"], [ensemble([rule([0])] * (size // 10))])


def many_conditions(document: dict, size: int) -> bytes:
    return named(document, 2, ["a", "b"], [ensemble([{"weight": 1.0, "condition": rule([0])["condition"] * (size // 10)}])])


def long_number(document: dict, size: int) -> bytes:
    text = json.dumps(document | {"chosen": 0, "path": [{"intercept": "HERE", "rules": []}]})
    return text.replace('"HERE"', f"0.{'3' * size}").encode()


# Files whose work could grow faster than their size; each is tried as large as here, and smaller ones at random.
SHAPES = {
    with_double: 100_000,
    wide: 999,
    many_names: 30_000,
    double_name: 100_000,
    long_condition: 30_000,
    double_column: 30_000,
    many_rules: 100_000,
    many_conditions: 100_000,
    long_number: 1_000_000,
}


def shaped(shape, document: dict, largest: int, rng: random.Random | None = None) -> bytes:
    """Return a file of a shape, of the largest size or of one that is drawn."""
    return shape(document, largest if rng is None else int(10 ** rng.uniform(1.0, np.log10(largest / 4.0))))


def changes(raws: list[bytes], count: int, rng: random.Random):
    """Yield so many files: each shape in full, then changes of a byte or an entry, now and then a shape of another size."""
    estimators = [document for document in map(json.loads, raws) if document["kind"] == "estimator"]
    for shape, largest in SHAPES.items():
        yield shaped(shape, estimators[0], largest)
    for number in range(count - len(SHAPES)):
        raw, other = rng.choice(raws), rng.choice(raws)
        if number % 500 == 0:
            yield shaped(*rng.choice([(shape, rng.choice(estimators), most) for shape, most in SHAPES.items()]), rng)
        elif rng.randrange(2):
            yield changed_bytes(raw, other, rng)
        else:
            yield changed_document(json.loads(raw), json.loads(other), rng)


def predict(model: object) -> None:
    """Ask a model for predictions; raise if they are no numbers."""
    ensemble = model if isinstance(model, RuleEnsemble) else model.ensemble_
    names = ensemble.feature_names
    n_columns = 1 + max(ensemble.used_columns, default=-1) if names is None else len(names)
    X = np.vstack([np.zeros(n_columns), np.linspace(-100.0, 100.0, n_columns)])[: 2 if n_columns < 1000 else 1]
    answers = [ensemble(X)]
    if model is not ensemble:
        rows = Block.of_matrix(X, names) if hasattr(model, "feature_names_in_") else X
        answers.append(model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows))
        assert len(model.predict(rows)) == len(X)
    assert all(np.isfinite(answer).all() for answer in answers)


def outcome(path: Path) -> str:
    """Load a file and predict; return what came of it."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        predict(load_model(path))
    except ModelFileError:
        return "refused"
    except BaseException as error:  # whatever it is, it is a finding
        return f"failed: {type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    return "predicts"


def too_long(*_: object) -> None:
    raise TimeoutError(f"more than {MOST_SECONDS} seconds")


def megabytes() -> float:
    """Return the most memory that this process has had; what getrusage says may be that of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def limit_memory() -> None:
    """Let every request fail that goes beyond the limit."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MOST_MEGABYTES * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main(directory: str, count: int, seed: int) -> dict:
    """Change files and load them."""
    rng, models = random.Random(seed), sorted(Path(directory).glob("*.json"))
    raws = [model.read_bytes() for model in models]
    for model in models:
        assert outcome(model) == "predicts", outcome(model)
    signal.signal(signal.SIGVTALRM, too_long)
    limit_memory()
    before, counts, failures, slowest = megabytes(), collections.Counter(), {}, 0.0
    place = Path(directory) / "changed"
    for change in changes(raws, count, rng):
        place.write_bytes(change)
        started = time.process_time()
        came = outcome(place)
        slowest = max(slowest, time.process_time() - started)
        counts[came.split(":")[0]] += 1
        if came.startswith("failed") and came not in failures:
            failures[came] = change[:100_000].decode("latin-1")
    return {
        "counts": dict(counts),
        "failures": failures,
        "slowest load in seconds": round(slowest, 3),
        "megabytes before": round(before),
        "megabytes more": round(megabytes() - before),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
