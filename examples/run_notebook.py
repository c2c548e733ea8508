"""Runs a notebook without Jupyter and writes its outputs into it: ``python examples/run_notebook.py examples/tour.ipynb``.

A cell shows what it prints and the value of its last line, as Jupyter does, but no pictures.
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path


def run(notebook):
    """Return the notebook with the outputs of its cells, which are run from top to bottom."""
    names, count, cells = {"__name__": "__main__"}, 0, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell = cell | {"execution_count": count, "outputs": outputs("".join(cell["source"]), names, count)}
        cells.append(cell)
    return notebook | {"cells": cells}


def outputs(source, names, count):
    """Run a cell, and return what it shows."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = run_cell(source, names)
    text = [{"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())}] if printed.getvalue() else []
    return text if value is None else [*text, result(value, count)]


def run_cell(source, names):
    """Run the statements of a cell, and return the value of the last one, if it is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def result(value, count):
    """Return a value as a cell shows it."""
    data = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data |= {"text/html": value._repr_html_()}
    shown = {kind: lines(text) for kind, text in sorted(data.items())}
    return {"data": shown, "execution_count": count, "metadata": {}, "output_type": "execute_result"}


def lines(text):
    """Return text as a list of lines, as notebooks store it."""
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    done = run(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
