"""Lengths in messages have the unit that the scene has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.rigs import make_chain, make_empty, make_rig, press, select


@pytest.fixture
def length_text(addon: Any) -> Callable[[float], str]:
    """What is said of a length of the scene."""
    told = installed.addon("addon.ui.units").length_text
    return lambda length: told(bpy.context.scene, length)


def set_units(system: str, unit: str, scale: float = 1.0) -> None:
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length = system, scale
    if system != "NONE":
        settings.length_unit = unit


@pytest.mark.parametrize(
    ("system", "unit", "scale", "wanted"),
    [
        ("METRIC", "METERS", 1.0, "0.3569 m"),
        ("METRIC", "CENTIMETERS", 1.0, "35.69 cm"),
        ("METRIC", "MILLIMETERS", 0.01, "3.569 mm"),
        ("METRIC", "MICROMETERS", 1e-6, "0.3569 µm"),
        ("METRIC", "KILOMETERS", 1000.0, "0.3569 km"),
        ("IMPERIAL", "FEET", 1.0, "1.171 ft"),
        ("IMPERIAL", "INCHES", 1.0, "14.05 in"),
        ("IMPERIAL", "THOU", 0.01, "140.5 thou"),
        ("IMPERIAL", "MILES", 1609.344, "0.3569 mi"),
        ("METRIC", "ADAPTIVE", 1.0, "35.69 cm"),
        ("IMPERIAL", "ADAPTIVE", 1.0, "1.171'"),
        ("NONE", "", 1.0, "0.3569"),
    ],
)
def test_a_length_in_the_unit_of_the_scene(
    length_text: Callable[[float], str], system: str, unit: str, scale: float, wanted: str
) -> None:
    set_units(system, unit, scale)
    assert length_text(0.3569) == wanted


def test_what_is_too_little_for_the_unit_has_another(length_text: Callable[[float], str]) -> None:
    set_units("METRIC", "METERS")
    assert [length_text(length) for length in (0.0, 0.0012, 3.2e-5)] == ["0 m", "0.0012 m", "32 µm"]


def test_a_bake_says_in_the_unit_of_the_scene_how_far_tips_are_away(capfd: Any) -> None:
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", (0.1, 2, -3)), plane="SWING")
    bpy.context.scene.frame_end = 2
    set_units("IMPERIAL", "INCHES")
    away = chain.residual / 0.0254
    press(ob, "bake")
    assert f"tips at most {away:.4g} in from their targets" in capfd.readouterr().out


class Labels:
    """A layout that notes what is written on it."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def label(self, text: str, **_: Any) -> None:
        self.said.append(text)


@pytest.mark.parametrize(
    ("influence", "limit", "wanted"), [(0.0, 0, "FK"), (0.4, 0, "Between FK and IK"), (1.0, 2.5, "Limited")]
)
def test_the_panel_says_what_keeps_a_tip_from_its_target(influence: float, limit: float, wanted: str) -> None:
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", (0.1, 0.4, -1.2)), plane="SWING", min_angle=limit)
    chain.influence = influence
    select(ob, "shin")
    bpy.context.view_layer.update()
    layout = Labels()
    installed.addon("addon.ui.panels.sections").draw_result(layout, bpy.context, ob.pose.bones["shin"])
    assert chain.reach == "LIMITED"
    assert [text.split(":")[0] for text in layout.said] == [wanted]


@pytest.mark.parametrize(("influence", "place"), [(0.4, (0.1, 0.4, -1.2)), (1.0, (0.1, 2.0, -3.0))])
def test_a_limb_on_the_rig_that_does_not_reach_is_looked_at_once_when_it_is_drawn(
    influence: float, place: tuple[float, float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    ob = make_rig()
    make_chain(ob, make_empty("target", place), plane="SWING", influence=influence)
    press(ob, "make_portable")
    status, looked = installed.addon("addon.native.status"), []
    look = status.reach_of
    monkeypatch.setattr(status, "reach_of", lambda *given: looked.append(given) or look(*given))
    lower = ob.pose.bones["shin"]
    installed.addon("addon.ui.panels.sections").draw_result(Labels(), bpy.context, lower)
    assert len(looked) == 1
    installed.addon("addon.ui.operators.selecting").icon_of(lower.planar_ik)
    assert len(looked) == 2
