"""Check what is in a wheel: all modules of the package, and neither tests nor sources of kernels; at most 2 MB."""

import sys
import zipfile
from pathlib import Path

LARGEST = 2_000_000
SOURCES = {".pyx", ".pxi", ".h", ".c"}
PACKAGE = Path(__file__).parents[1] / "src" / "obliquerules"


def complaints(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    names = [Path(name) for name in zipfile.ZipFile(wheel).namelist()]
    found = [f"{wheel.name} has {size:,} bytes, more than {LARGEST:,}." for size in [wheel.stat().st_size] if size > LARGEST]
    found += [f"{name} is a source of a kernel." for name in names if name.suffix in SOURCES]
    found += [f"{name} has no place in the package." for name in names if not name.parts[0].startswith("obliquerules")]
    found += [f"{name} is a test or a build file." for name in names if "tests" in name.parts or name.name == "meson.build"]
    return found + [f"{name} is missing." for name in sorted(wanted() - {str(name.with_suffix("")) for name in compiled(names)})]


def compiled(names: list[Path]) -> list[Path]:
    """Return the modules, a compiled one without the part of its name that says for which Python it is."""
    return [name.with_name(name.name.split(".")[0] + ".py") for name in names if name.suffix in {".py", ".so", ".pyd"}]


def wanted() -> set[str]:
    """Return all modules of the package, by their paths."""
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]
    return {str(file.relative_to(PACKAGE.parent).with_suffix("")) for file in files}


if __name__ == "__main__":
    wheels = [Path(argument) for argument in sys.argv[1:]] or sys.exit("Give the wheels to check.")
    wrong = [complaint for wheel in wheels for complaint in complaints(wheel)]
    sys.exit("\n".join(wrong))
