# SPDX-License-Identifier: Apache-2.0
"""The memlint program that came with this package, or MEMLINT."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess


@functools.lru_cache(maxsize=None)
def path() -> str:
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "memlint")
    found = os.environ.get("MEMLINT") or (own if os.path.exists(own) else shutil.which("memlint"))
    if not found:
        raise FileNotFoundError("memlint: the program is not in this package and not on the path")
    return found


def said(*args: str) -> str:
    return subprocess.run([path(), *args], check=True, capture_output=True, text=True).stdout


@functools.lru_cache(maxsize=None)
def rows() -> frozenset:
    """The operators whose derivative it knows, "linear.default"."""
    listed = [line.split("\t") for line in said("--list=aten").splitlines()]
    return frozenset(row[0] for row in listed if len(row) > 2 and row[2] != "no derivative")


@functools.lru_cache(maxsize=None)
def version() -> str:
    return said("--version").split()[1]
