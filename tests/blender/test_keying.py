"""Keys that hold what a curve has from a frame on: its values before stay, whatever its keys are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import bpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.blender.rigs import curves, make_empty

AUTOMATIC = ["AUTO", "AUTO_CLAMPED", "VECTOR"]
EASED = ["LINEAR", "CONSTANT", "SINE", "ELASTIC", "BOUNCE", "BACK"]
numbers = st.floats(-3.0, 3.0)
shifts = st.tuples(st.floats(0.1, 4.0), numbers)


def keyed(values: dict[int, float]) -> tuple[Any, Any]:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = make_empty("keyed")
    for frame, value in values.items():
        ob.location.x = value
        ob.keyframe_insert("location", index=0, frame=frame)
    (curve,) = curves(ob).values()
    return ob, curve


def hold_and_key(addon: Any, ob: Any, curve: Any, frame: int) -> None:
    import_module(".rig.data.fcurves", addon.__name__).hold_from(curve, frame)
    ob.location.x = 9.0
    ob.keyframe_insert("location", index=0, frame=frame + 1)


@given(st.dictionaries(st.integers(1, 60), numbers, min_size=1, max_size=4), st.integers(2, 65), st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_curve_keeps_its_shape_before(addon: Any, values: dict[int, float], frame: int, data: Any) -> None:
    ob, curve = keyed(values)
    kind = data.draw(st.sampled_from([*AUTOMATIC, "FREE"]))
    for key in curve.keyframe_points:
        key.handle_left_type = key.handle_right_type = kind
        if kind == "FREE":
            before, after = data.draw(shifts), data.draw(shifts)
            key.handle_left = (key.co.x - before[0], key.co.y + before[1])
            key.handle_right = (key.co.x + after[0], key.co.y + after[1])
    curve.update()
    times = [quarter / 4 for quarter in range(4 * frame + 1)]
    had = [curve.evaluate(time) for time in times]
    hold_and_key(addon, ob, curve, frame)
    assert [curve.evaluate(time) for time in times] == pytest.approx(had, abs=2e-5)
    assert curve.evaluate(frame + 0.75) == pytest.approx(had[-1], abs=2e-5)


@pytest.mark.parametrize("easing", EASED)
def test_easing_keeps_its_frames(addon: Any, easing: str) -> None:
    ob, curve = keyed({1: 0.0, 20: 2.0, 40: -1.0})
    for key in curve.keyframe_points:
        key.interpolation = easing
    had = [curve.evaluate(frame) for frame in range(1, 32)]
    hold_and_key(addon, ob, curve, 31)
    assert [curve.evaluate(frame) for frame in range(1, 32)] == pytest.approx(had, abs=1e-6)
