"""The kernels compile for every system that wheels are made for, with another compiler than the one at hand.

The compiler is Clang as Zig packages it, with the C libraries of all targets. What is shown is that each kernel compiles to an
object file without a warning: linking, loading and running on those systems is shown only by their own jobs of the workflows.
For Windows that is the GNU ABI; for Microsoft's there are no headers, so only our own are compiled, in Clang's MSVC mode.

Python's headers are those of the Python that runs the tests. Its pyconfig.h, which describes the system that it was built on,
is replaced by one that describes the target.
"""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from .test_row_block import COMPILER, KERNELS, LOOPS, printed

HERE = Path(__file__).parent / "cross"
ZIG = [sys.executable, "-m", "ziglang", "cc"]
# Those of the build, and no warning is tolerated, not even in what Cython generates. Clang warns before it optimises, so that
# nothing is optimised; Zig would add a sanitizer by itself.
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-command-line-argument"]  # which Zig adds for Windows
FLAGS = ["-std=c11", "-fopenmp-simd", "-ffp-contract=off", *STRICT, f"-I{KERNELS}"]
QUICK = ["-O0", "-fno-sanitize=all"]
TARGETS = [
    "x86_64-linux-gnu",
    "aarch64-linux-gnu",
    "x86_64-linux-musl",
    "aarch64-linux-musl",
    "x86_64-windows-gnu",
    "x86_64-macos",
    "aarch64-macos",
]
NAMES = sorted(file.stem for file in KERNELS.glob("*.pyx"))
# All that is made of a kernel is made by one process, which generates its C once.
KERNEL = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in NAMES]

pytestmark = [
    pytest.mark.cross,
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="The cross compiler is not installed."),
]


def compiled(target, source, result, *flags):
    """Return the errors and warnings of a compilation, and how large the object file is."""
    command = [*ZIG, "-target", target, *FLAGS, *flags, "-c", source, "-o", result]
    messages = subprocess.run(command, check=False, capture_output=True, text=True).stderr
    return messages, result.stat().st_size if result.exists() else 0


@pytest.fixture(scope="module")
def python_headers(tmp_path_factory):
    # A copy, because Python.h takes the pyconfig.h that lies beside it.
    headers = tmp_path_factory.mktemp("headers") / "python"
    shutil.copytree(sysconfig.get_path("include"), headers)
    shutil.copy(HERE / "pyconfig.h", headers)
    return headers


@pytest.fixture(scope="module", params=KERNEL)
def kernel(request, tmp_path_factory):
    source = tmp_path_factory.mktemp("generated") / f"{request.param}.c"
    subprocess.run([sys.executable, "-m", "cython", "-3", KERNELS / f"{request.param}.pyx", "-o", source], check=True)
    return source


@pytest.mark.parametrize("target", TARGETS)
def test_every_kernel_compiles_for_every_target(kernel, target, python_headers, tmp_path):
    messages, size = compiled(target, kernel, tmp_path / "kernel.o", *QUICK, "-isystem", python_headers)
    assert messages == ""
    assert size > 10_000


@pytest.mark.parametrize("target", TARGETS)
def test_our_headers_compile_for_every_target(target, tmp_path):
    messages, size = compiled(target, HERE / "headers.c", tmp_path / "headers.o", "-O3")
    assert (messages, size > 1000) == ("", True)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_our_headers_keep_the_rules_of_msvc(machine, tmp_path):
    flags = [*QUICK, "-ffreestanding", "-nostdlibinc", "-isystem", HERE / "msvc"]
    messages, size = compiled(f"{machine}-windows-msvc", HERE / "headers.c", tmp_path / "headers.o", *flags)
    assert (messages, size > 1000) == ("", True)


@pytest.mark.parametrize("extension", ["int f(int n) { return ({ n; }); }", "int f(int n) { return n ?: 1; }"])
def test_what_is_not_c11_is_refused(extension, tmp_path):
    (tmp_path / "extension.c").write_text(extension, encoding="utf-8")
    messages, size = compiled("x86_64-linux-gnu", tmp_path / "extension.c", tmp_path / "extension.o")
    assert (size, "error" in messages) == (0, True)


@pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64" or COMPILER is None, reason="What is compiled could not run.")
def test_another_compiler_and_c_library_give_the_same_bits(tmp_path):
    # In plain C, because Zig brings no library in which a program could look up what its processor can do.
    assert printed(LOOPS, tmp_path, "-target", "x86_64-linux-musl", "-DPLAIN_C", compiler=ZIG) == printed(LOOPS, tmp_path)
