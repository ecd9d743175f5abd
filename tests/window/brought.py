"""Every character with IK by one press of Add in the window: its picture at rest and with its targets nearer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import Hand
from leg import new_file
from mathutils import Euler, Vector

from tests.blender import characters, rigs


def adds_to(name: str) -> Any:
    """The scenario of one character."""

    def scenario(hand: Hand) -> Iterator[Any]:
        yield from new_file(hand)
        character = characters.CHARACTERS[name]
        ob = character.make()
        ob.data.display_type = "STICK"
        view = hand.view()[0].spaces.active
        view.region_3d.view_rotation = Euler((1.35, 0.0, 0.0 if name == "puppet" else 0.85)).to_quaternion()
        view.region_3d.view_perspective = "ORTHO"
        view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = False
        yield from hand.to_the_middle()
        yield from hand.key("A")
        yield from hand.key("HOME")
        yield from hand.choose("Add Planar IK")
        yield
        hand.picture("rest", hand.place_of_view())
        lasts = [bone for bone in ob.pose.bones if bone.planar_ik.enabled]
        depths = _depths(ob, lasts)
        found = {"limbs": sorted(last.name for last in lasts), "rest": [last.planar_ik.message for last in lasts]}
        for last in lasts:
            root, target = ob.matrix_world @ _line(last)[-1].head, ob.pose.bones[last.planar_ik.subtarget]
            rigs.put(target, rigs.place(ob, target.name).lerp(root, 0.35))
        bpy.context.view_layer.update()
        yield
        found["near"] = [last.planar_ik.message for last in lasts]
        found["left"] = max(abs(one - other) for one, other in zip(depths, _depths(ob, lasts), strict=True))
        found["knees"] = [_points(ob, last).dot(character.knees[last.name]) for last in lasts]
        hand.picture("near", hand.place_of_view())
        return found

    return scenario


def _line(last: Any) -> list[Any]:
    """The bones of a limb, from its last one up."""
    return [last, *last.parent_recursive][: last.planar_ik.chain_count]


def _depths(ob: Any, lasts: list[Any]) -> list[float]:
    """How far before the plane that a puppet is drawn in the joints of limbs are."""
    now = rigs.evaluated(ob).pose.bones
    return [(ob.matrix_world @ now[bone.name].head).y for last in lasts for bone in _line(last)]


def _points(ob: Any, last: Any) -> Vector:
    """Which way the first knee points, off the line from root to tip."""
    now = rigs.evaluated(ob).pose.bones
    turn = ob.matrix_world.to_3x3()
    knee, root = (turn @ now[each.name].head for each in _line(last)[-2:])
    tip = turn @ rigs.evaluated(ob).pose.bones[last.planar_ik.subtarget].head
    aside = (knee - root) - (tip - root) * (knee - root).dot(tip - root) / (tip - root).length_squared
    return aside.normalized()


for _name in characters.CHARACTERS:
    globals()[_name.lower().replace("-", "_")] = adds_to(_name)
