"""The engines that run exports here: the name of each, its target and its options."""

ENGINES = {
    "JSON": ("json", {}),
    "Python": ("python", {}),
    "C": ("c", {}),
    "DuckDB": ("sql", {"dialect": "duckdb"}),
    "SQLite": ("sql", {"dialect": "sqlite"}),
    "PostgreSQL": ("sql", {"dialect": "postgres"}),
    "ONNX Runtime": ("onnx", {}),
}
