"""Check what is in wheels: all modules of the package, and neither tests nor sources of kernels; at most 2 MB."""

import sys
import zipfile
from pathlib import Path, PurePosixPath

LARGEST = 2_000_000
SOURCES = {".pyx", ".pxi", ".h", ".c", ".build"}
PACKAGE = Path(__file__).parents[1] / "src" / "obliquerules"


def complaints(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    files = [PurePosixPath(name) for name in zipfile.ZipFile(wheel).namelist()]
    return [
        *(f"{wheel.name} has {size:,} bytes, more than {LARGEST:,}." for size in [wheel.stat().st_size] if size > LARGEST),
        *(f"{wheel.name}: {file} is a source." for file in files if file.suffix in SOURCES),
        *(f"{wheel.name}: {file} has no place here." for file in files if "tests" in file.parts or not is_ours(file)),
        *(f"{wheel.name}: {module} is missing." for module in sorted(wanted() - {module_of(file) for file in files})),
    ]


def is_ours(file: PurePosixPath) -> bool:
    """Whether a file belongs to the package or says what the wheel is."""
    return file.parts[0] == "obliquerules" or file.parts[0].endswith(".dist-info")


def module_of(file: PurePosixPath) -> str:
    """Return the path of a module without its ending, to which a compiled one adds for which Python it is."""
    return str(file.with_name(file.name.split(".")[0])) if file.suffix in {".py", ".so", ".pyd"} else ""


def wanted() -> set[str]:
    """Return the modules of the package."""
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]
    return {file.relative_to(PACKAGE.parent).with_suffix("").as_posix() for file in files}


if __name__ == "__main__":
    wheels = [Path(argument) for argument in sys.argv[1:]] or sys.exit("Give the wheels to check.")
    sys.exit("\n".join(complaint for wheel in wheels for complaint in complaints(wheel)) or None)
