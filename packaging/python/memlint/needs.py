# SPDX-License-Identifier: Apache-2.0
"""Imported before what looks at a model: says in one sentence what that needs and is not installed."""

from __future__ import annotations

import importlib.util


class Missing(ImportError):
    """Packages that are not installed."""


missing = [name for name in ("torch", "onnx") if not importlib.util.find_spec(name)]
if missing:
    raise Missing(f"to look at a model memlint needs {' and '.join(missing)}: pip install {' '.join(missing)}")
