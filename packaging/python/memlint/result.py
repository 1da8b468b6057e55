# SPDX-License-Identifier: Apache-2.0
"""What memlint answered."""

from __future__ import annotations

import dataclasses
import html
import json
import re
import subprocess
from typing import Any

from . import program

UNITS = {"B": 1}
for n, letter in enumerate("KMGT", 1):
    UNITS[letter + "B"], UNITS[letter + "IB"] = 1000**n, 1024**n


def size(text) -> int:
    """Bytes of a number, or of "8GiB", "500 MB". ValueError where there is no unit, or another one."""
    if not isinstance(text, str):
        return int(text)
    m = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]+)\s*", text)
    if not m or m[2].upper() not in UNITS:
        raise ValueError(f"a size is a number and a unit, as in 8GiB or 500MB: {text!r}")
    return round(float(m[1]) * UNITS[m[2].upper()])


class Size(int):
    """Bytes, which can be compared with "8GiB"."""

    def __str__(self):
        for unit in ("TiB", "GiB", "MiB", "KiB"):
            if abs(self) >= UNITS[unit.upper()]:
                return f"{int(self) / UNITS[unit.upper()]:.2f} {unit}"
        return f"{int(self)} B"

    __repr__ = __str__

    def __lt__(self, other):
        return int(self) < size(other)

    def __le__(self, other):
        return int(self) <= size(other)

    def __gt__(self, other):
        return int(self) > size(other)

    def __ge__(self, other):
        return int(self) >= size(other)

    def __eq__(self, other):
        return int(self) == (size(other) if isinstance(other, str) else other)

    __hash__ = int.__hash__


@dataclasses.dataclass(frozen=True)
class Finding:
    """A change that was tried on the step, and its measured effect."""

    rule: str
    severity: str
    message: str
    how: str
    saves: Size
    peak_after: Size
    location: str | None


class Result:
    """peak, allocated, reserved, device: bytes at the peak. raw: all of the program's JSON (schema 1)."""

    def __init__(self, model: str, options: list, keep: Any = None):
        self.model, self.options, self._keep = model, options, keep
        self.raw = json.loads(self._run("--format=json"))

    def _run(self, *more):
        r = subprocess.run([program.path(), self.model, *self.options, *more], capture_output=True, text=True)
        if r.returncode > 1 or (r.returncode == 1 and not r.stdout and "-o" not in more):
            raise RuntimeError(r.stderr.strip())
        return r.stdout

    @property
    def allocated(self) -> Size:
        return Size(self.raw["peak"]["allocated"])

    peak = allocated

    @property
    def reserved(self) -> Size:
        return Size(self.raw["peak"]["reserved"])

    @property
    def device(self) -> Size:
        return Size(self.raw["peak"]["device"])

    @property
    def verdict(self) -> str:
        return self.raw["verdict"]

    @property
    def sure(self) -> bool:
        return self.verdict != "inconclusive"

    @property
    def unexplained(self) -> list:
        """Why it is not sure."""
        return [f"{d['node']}: {d['why']}" for d in self.raw.get("unexplained", [])]

    @property
    def findings(self) -> list:
        return [
            Finding(
                f["rule"],
                f["severity"],
                f["message"],
                f.get("how", ""),
                Size(f.get("saves_bytes") or 0),
                Size(f.get("peak_after") or 0),
                f.get("location"),
            )
            for f in self.raw["findings"]
        ]

    def fits(self, device: str) -> bool:
        """Whether the step fits there; False where memlint is not sure."""
        return Result(self.model, [*self.options, f"--device={device}"], self._keep).verdict == "ok"

    def save(self, path: str) -> str:
        """A report; the extension picks the format, as in memlint -o."""
        self._run("-q", "-o", str(path))
        return path

    def __str__(self):
        return self._run("--color=never").rstrip("\n")

    def __repr__(self):
        return f"<memlint.Result {self.verdict}: peak {self.peak} allocated, {self.reserved} reserved>"

    def _repr_html_(self):
        page = html.escape(self._run("--format=html"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:720px;border:0" title="memlint"></iframe>'
