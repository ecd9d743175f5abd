"""Random limbs on the rig that were off: below and near -Y, and nearly straight ones."""

from __future__ import annotations

import pytest

from tests.blender.rigging.many import measured

pytestmark = pytest.mark.dear

NEAR_Y = (0, 7, 14, 27, 34, 44, 45, 48, 49, 54, 61, 63, 65, 67, 71, 84, 95, 97, 101, 112, 124, 130, 134, 137, 159)
ANYWHERE = (178, 192, 244)


@pytest.mark.parametrize(("seed", "near_y"), [(n, True) for n in NEAR_Y] + [(n, False) for n in ANYWHERE])
def test_exact_wherever_it_points(addon, seed, near_y):
    found = measured(addon, seed, near_y)
    assert found.is_well, found
