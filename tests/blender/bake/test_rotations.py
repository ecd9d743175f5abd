"""Rotations written down for a whole bake at once: as the per-frame driver writes them, and without jumps."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from mathutils import Euler, Quaternion

from scripts import installed
from tests.blender.rigs import EULER_ORDERS, MODES

TURN = 2 * math.pi


@pytest.fixture
def rotation(addon: ModuleType) -> ModuleType:
    return installed.addon("addon.rig.data.rotation")


@pytest.fixture
def continuous(addon: ModuleType) -> Any:
    return installed.addon("addon.bake.continuity").continuous


def size_of(mode: str) -> int:
    return 3 if mode in EULER_ORDERS else 4


def blenders(mode: str, numbers: Any) -> Quaternion:
    """What Blender makes of a rotation channel."""
    if mode == "QUATERNION":
        return Quaternion(numbers).normalized()
    if mode == "AXIS_ANGLE":
        return Quaternion(numbers[1:], numbers[0])
    return Euler(numbers, mode).to_quaternion()


def any_channels(mode: str, count: int = 500) -> np.ndarray:
    """Rotation channels, many of them where the middle angle locks or there is no turn."""
    random = np.random.default_rng(4)
    rows = random.uniform(-7.0, 7.0, (count, size_of(mode)))
    if mode in EULER_ORDERS:
        rows[::5, "XYZ".index(mode[1])] = math.pi / 2 * random.choice([-3, -1, 1, 3], len(rows[::5]))
        rows[1::5, "XYZ".index(mode[1])] = math.pi / 2 + 1e-6
    if mode == "AXIS_ANGLE":
        rows[::5, 0], rows[1::5, 0], rows[2::25, 1:] = 0.0, TURN, 0.0
    return rows


def is_same(a: Quaternion, b: Quaternion) -> bool:
    return abs(a.dot(b)) > 1 - 1e-6


@pytest.mark.parametrize("mode", MODES)
def test_arrays_are_converted_as_floats_are(rotation, mode):
    rows = any_channels(mode)
    rows[2::25] = 0.0
    near = np.roll(rows, 7, axis=0)
    near[3::11] = 0.0
    turned = rotation.to_quaternion(mode, [*rows.T], rotation.ARRAYS)
    written = rotation.to_channels(mode, turned, [*near.T], rotation.ARRAYS)
    for i, row in enumerate(rows.tolist()):
        alone = rotation.to_quaternion(mode, row)
        assert np.allclose([part[i] for part in turned], alone, rtol=0, atol=1e-14)
        assert np.allclose(
            [part[i] for part in written], rotation.to_channels(mode, alone, near[i].tolist()), rtol=1e-12
        )
        assert is_same(Quaternion(alone), blenders(mode, row))
        assert is_same(blenders(mode, [part[i] for part in written]), blenders(mode, row))


@pytest.mark.parametrize("mode", MODES)
def test_a_rotation_is_written_closest_to_what_is_near(rotation, mode):
    rows = any_channels(mode, 100)
    again = np.transpose(
        rotation.to_channels(mode, rotation.to_quaternion(mode, [*rows.T], rotation.ARRAYS), [*rows.T], rotation.ARRAYS)
    )
    if mode == "QUATERNION":
        rows /= np.linalg.norm(rows, axis=1)[:, None]
    if mode == "AXIS_ANGLE":
        counts = np.abs(np.sin(rows[:, 0] / 2)) > 1e-9
        rows, again = rows[counts], again[counts]
        rows[:, 1:] /= np.maximum(np.linalg.norm(rows[:, 1:], axis=1), 1e-9)[:, None]
        rows, again = rows[rows[:, 1:].any(axis=1)], again[rows[:, 1:].any(axis=1)]
    if mode in EULER_ORDERS:
        counts = np.abs(np.cos(rows[:, "XYZ".index(mode[1])])) > 1e-3
        rows, again = rows[counts], again[counts]
    assert len(rows) > 50
    assert np.allclose(again, rows, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_rows_that_were_written_anyhow_go_on_without_jumps(rotation, continuous, mode):
    """Three turns about each axis, the middle angle through both its locks, each frame written in any way."""
    time = np.linspace(0.0, 1.0, 501)
    order = mode if mode in EULER_ORDERS else "XYZ"
    smooth = np.zeros((len(time), 3))
    for letter, turns, lead in zip(order, (3, 1, -2), (0.1, 0.0, 0.2), strict=True):
        smooth[:, "XYZ".index(letter)] = turns * TURN * time + lead
    random = np.random.default_rng(5)
    turned = rotation.to_quaternion(order, [*smooth.T], rotation.ARRAYS)
    near = random.uniform(-9.0, 9.0, (size_of(mode), len(time)))
    written = np.transpose(rotation.to_channels(mode, turned, [*near], rotation.ARRAYS))
    steady = continuous(mode, written.astype(np.float32))
    assert (steady[0] == written[0].astype(np.float32)).all()
    assert np.abs(np.diff(written, axis=0)).max() > 1.0
    assert np.abs(np.diff(steady, axis=0)).max() < 0.35
    for row, *wanted in zip(steady.tolist(), *turned, strict=True):
        assert is_same(blenders(mode, row), Quaternion(wanted))
