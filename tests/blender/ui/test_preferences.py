"""What a person prefers is how Add begins in the window; scripts are not led by it."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from .conftest import call


@pytest.fixture
def preferences(addon: Any) -> Any:
    """Ours: registered from source, there is no entry for them, so one is made."""
    module, addons = addon("ui.preferences").ID, bpy.context.preferences.addons
    is_new = module not in addons
    if is_new:
        addons.new().module = module
    found = addons[module].preferences
    yield found
    for name in ("plane", "overlay"):
        found.property_unset(name)
    if is_new:
        addons.remove(addons[module])


def test_scripts_do_not(biped: Any, preferences: Any) -> None:
    preferences.plane = "FREE"
    assert not call("add")
    assert biped.pose.bones["shin.L"].planar_ik.plane == "POLE"


def test_the_overlay_is_as_strong(addon: Any, preferences: Any) -> None:
    drawing = addon("ui.overlay")
    preferences.overlay = 0.5
    for colour in drawing.LINE_COLOURS.values():
        assert drawing.faded(bpy.context, colour) == pytest.approx((*colour[:3], colour[3] / 2))


def test_the_menu_has_what_applies(addon: Any, biped: Any) -> None:
    def shown() -> set[str]:
        return {
            f"{name} {' '.join(map(str, given.values()))}".strip()
            for name, given in addon("ui.preferences").entries(bpy.context)
        }

    assert shown() == {"add", "plant"}
    assert not call("add")
    assert shown() == {
        "switch", "snap_target", "snap_fk", "mirror", "hold", "find_contacts", "plant", "set True", "remove",
        "set LIVE", "rebuild", "bake",
    }  # fmt: skip
    assert not call("set", mode="LIVE", flip=True)
    assert shown() >= {"set RIG", "set False"}
    assert not shown() & {"set LIVE", "rebuild", "unconvert", "convert"}
    constraint = biped.pose.bones["shin.R"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = biped, "root", 2
    assert shown() >= {"convert"}
