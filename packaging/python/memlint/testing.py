# SPDX-License-Identifier: Apache-2.0
"""A fixture for pytest: `def test_memory(memlint): assert memlint(model, x).peak < "8GiB"`."""

from __future__ import annotations

import pytest

from . import check


@pytest.fixture(name="memlint")
def memlint_fixture():
    """memlint.check, which fails the test where the answer is not sure."""

    def checked(model, *inputs, **how):
        result = check(model, *inputs, **how)
        assert result.sure, f"memlint is not sure: {'; '.join(result.unexplained)}"
        return result

    return checked
