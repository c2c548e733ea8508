"""A PostgreSQL server of its own for the tests that need one, if the programs are installed."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest


def _unprivileged():
    """Return the user that runs the server: PostgreSQL refuses to be run by root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return None


@pytest.fixture(scope="session")
def postgres():
    """A connection to a temporary server."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name))
    if not programs:
        pytest.skip("PostgreSQL is not installed: there is no /usr/lib/postgresql/*/bin")
    user = _unprivileged()
    if os.getuid() == 0 and user is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user to run it")
    psycopg = pytest.importorskip("psycopg")
    place = Path(tempfile.mkdtemp(prefix="postgres"))
    if user is not None:
        shutil.chown(place, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(program, *arguments):
        subprocess.run([programs[-1] / program, *arguments], check=True, user=user, cwd=place, stdout=subprocess.DEVNULL)

    # To compile a query of many rules would take longer than to run it.
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={place} -c fsync=off -c jit=off"
    try:
        call("initdb", "-D", place / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        call("pg_ctl", "-D", place / "data", "-w", "-l", place / "log", "-o", options, "start")
        try:
            with psycopg.connect(user="tester", host="127.0.0.1", port=port, dbname="postgres") as connection:
                yield connection
        finally:
            call("pg_ctl", "-D", place / "data", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(place)
