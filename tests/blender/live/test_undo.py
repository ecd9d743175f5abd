"""Undo and redo: every step shows the limbs as they were then, whatever of what was found out about them is kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.rigs import (
    FREE,
    LEG,
    NEAR,
    NEXT,
    editing,
    make_chain,
    make_empty,
    make_rig,
    plane_chain,
    put,
    update,
)

RIGS = ("a", "b")
WITHIN = 1e-5
"""How far a joint may be from where it was, in lengths of the limb, about 2: Blender undoes in single precision."""


def scene() -> None:
    """Two legs whose chains follow an empty and a bone, and more that they could follow."""
    a, b = (make_rig((*LEG, FREE), name) for name in RIGS)
    b.location.x = 1.0
    plane_chain(a, make_empty("target", NEAR))
    make_chain(b, a, subtarget="free", plane="SWING")
    make_empty("other", NEXT)
    make_empty("carrier", (0.1, 0.1, 0.1))
    update()


def thing(name: str) -> Any:
    return bpy.data.objects[name]


def bone(rig: str, name: str) -> Any:
    bones = thing(rig).pose.bones
    return bones["root" if name == "hip" and "root" in bones else name]


def chain(rig: str) -> Any:
    return bone(rig, "shin").planar_ik


def add_constraint(owner: Any, kind: str, target: str, **settings: Any) -> None:
    constraint = owner.constraints.new(kind)
    constraint.target = thing(target)
    for name, value in settings.items():
        setattr(constraint, name, value)


def add_driver(owner: Any, path: str, target: str, part: str = "") -> None:
    driver = owner.driver_add(path, 0).driver
    variable = driver.variables.new()
    variable.type, variable.targets[0].id, driver.expression = "TRANSFORMS", thing(target), "var"
    variable.targets[0].bone_target = part


def toggle(owner: Any, name: str) -> None:
    setattr(owner, name, not getattr(owner, name))


def bend_at_rest(number: float) -> None:
    with editing(thing("a")) as bones:
        bones["shin"].tail.y = number


def hang(rig: str, name: str, parent: str) -> None:
    with editing(thing(rig)) as bones:
        bones[name].parent = bones[0] if parent else None


def hang_target(name: str) -> None:
    target = thing("target")
    target.parent, target.parent_type, target.parent_bone = (thing("b"), "BONE", name) if name else (None, "OBJECT", "")


def rename(name: str, to: str) -> None:
    bones = thing("a").data.bones
    bones[name if name in bones else to].name = to if name in bones else name


def make_third(number: float) -> None:
    if "c" not in bpy.data.objects:
        plane_chain(make_rig(name="c"), make_empty("target of c", (0.2, 0.4, number)))
    else:
        bpy.data.objects.remove(thing("c"))


def unless(there: Any, made: Callable[[], Any]) -> None:
    """Remove the last of what is there, or make it."""
    there.remove(there[-1]) if len(there) else made()


EDITS: dict[str, Callable[[float], Any]] = {
    "turn": lambda x: setattr(bone("a", "hip"), "rotation_quaternion", (1, x, 0, 0)),
    "turn a limb": lambda x: setattr(bone("a", "thigh"), "rotation_quaternion", (1, x, 0, 0)),
    "move a limb's bone": lambda x: setattr(bone("a", "thigh"), "location", (x, 0, 0)),
    "scale": lambda x: setattr(bone("b", "hip"), "scale", (1, 1 + x, 1)),
    "move the target": lambda x: setattr(thing("target"), "location", (0.2, x, -1.2)),
    "move the bone": lambda x: setattr(bone("a", "free"), "location", (0, x, 0)),
    "move a carrier": lambda x: setattr(thing("carrier"), "location", (x, 0, 0)),
    "follow another": lambda x: setattr(chain("a"), "target", thing("other" if x > 0 else "target")),
    "follow nothing": lambda x: setattr(chain("b"), "target", None if x > 0 else thing("a")),
    "parent the target": lambda x: setattr(thing("target"), "parent", thing("carrier") if x > 0 else None),
    "parent a rig": lambda x: setattr(thing("b"), "parent", thing("carrier") if x > 0 else None),
    "follow a chain": lambda x: setattr(chain("b"), "subtarget", "shin" if x > 0 else "free"),
    "constrain the target": lambda _: unless(
        thing("target").constraints, lambda: add_constraint(thing("target"), "COPY_LOCATION", "other", influence=0.3)
    ),
    "constrain a bone": lambda _: unless(
        bone("a", "shin").constraints, lambda: add_constraint(bone("a", "shin"), "COPY_ROTATION", "other")
    ),
    "mute": lambda _: [toggle(each, "mute") for each in bone("a", "shin").constraints],
    "drive": lambda x: (
        add_driver(bone("a", "thigh"), "rotation_quaternion", "other")
        if x > 0
        else bone("a", "thigh").driver_remove("rotation_quaternion")
    ),
    "bend": lambda x: setattr(chain("a"), "bend", 1.0 if x > 0 else -1.0),
    "influence": lambda x: setattr(chain("b"), "influence", min(1.0, 0.5 + abs(x))),
    "stretch": lambda x: setattr(chain("a"), "stretch", max(x, 0.0)),
    "switch": lambda _: toggle(chain("a"), "enabled"),
    "plane": lambda x: setattr(chain("b"), "plane", "REST" if x > 0 else "SWING"),
    "modes": lambda x: setattr(bone("b", "shin"), "rotation_mode", "XYZ" if x > 0 else "QUATERNION"),
    "bend at rest": bend_at_rest,
    "rest": lambda x: setattr(thing("a").data, "pose_position", "REST" if x > 0 else "POSE"),
    "hide": lambda x: thing("target").hide_set(x > 0),
    "disable": lambda x: setattr(thing("target"), "hide_viewport", x > 0),
    "key": lambda x: thing("target").keyframe_insert("location", frame=int(10 * x)),
    "key the limb": lambda x: bone("a", "thigh").keyframe_insert("rotation_quaternion", frame=int(10 * x)),
    "unkey": lambda _: thing("target").animation_data_clear(),
    "frame": lambda x: bpy.context.scene.frame_set(int(10 * x)),
    "rename": lambda _: rename("hip", "root"),
    "name": lambda x: setattr(thing("target"), "name", "target"),
    "another rig": make_third,
}

LINKS: dict[str, Callable[[float], Any]] = {
    "hang the bone": lambda x: hang("a", "free", "shin" if x > 0 else ""),
    "hang the target": lambda x: hang_target("shin" if x > 0 else ""),
    "constrain it to a limb": lambda x: unless(
        thing("target").constraints, lambda: add_constraint(thing("target"), "CHILD_OF", "b", subtarget="shin")
    ),
    "drive it by a limb": lambda x: (
        add_driver(thing("target"), "location", "b", "shin") if x > 0 else thing("target").driver_remove("location")
    ),
}
"""Edits that decide which limb is posed first."""


def stored(edit: str, number: float) -> list[Any]:
    """Do an edit as one step, and say how the scene looks then."""
    (EDITS | LINKS)[edit](number)
    update()
    bpy.ops.ed.undo_push(message=edit)
    return shown()


def shown() -> list[Any]:
    """Where the bones of all limbs are, and what their chains say."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found: list[Any] = []
    for ob in (each for each in bpy.data.objects if each.type == "ARMATURE"):
        bones = ob.evaluated_get(depsgraph).pose.bones
        lower = ob.pose.bones["shin"].planar_ik
        places = np.array([(*each.head, *each.tail, *each.x_axis) for each in bones])
        found.append((ob.name, places, lower.reach, lower.message, lower.residual))
    return found


def shown_again() -> list[Any]:
    """The same after all is evaluated once more: what is animated goes where its keys say only then."""
    for ob in bpy.data.objects:
        ob.update_tag()
    update()
    return shown()


def look_anew() -> list[Any]:
    """The same after all that was found out is forgotten."""
    installed.addon("addon.live.plan").plan.forget()
    return shown_again()


def assert_same(now: list[Any], then: list[Any]) -> None:
    assert [each[0] for each in now] == [each[0] for each in then]
    for (name, places, *told), (_, wanted, *said) in zip(now, then, strict=True):
        assert np.abs(places - wanted).max() <= 2 * WITHIN, name
        assert told[:2] == said[:2], name
        assert told[2] == pytest.approx(said[2], abs=2 * WITHIN), name


@pytest.mark.parametrize("edit", [*EDITS, *LINKS])
def test_a_step_back_and_forth_shows_what_was_there(edit: str) -> None:
    scene()
    bpy.ops.ed.undo_push(message="start")
    states = [shown()] + [stored(edit, number) for number in (0.3, -0.4, 0.5)]
    position = 3
    for wanted in (2, 1, 0, 1, 2, 3, 2, 1, 0):
        (bpy.ops.ed.undo if wanted < position else bpy.ops.ed.redo)()
        position = wanted
        assert_same(shown_again(), states[position])
        look_anew()


@pytest.mark.parametrize("edit", [*EDITS, *LINKS])
def test_an_edit_between_two_steps_is_undone(edit: str) -> None:
    """What was found out is taken up again by the first, but no longer holds after the edit."""
    scene()
    bpy.ops.ed.undo_push(message="start")
    stored("turn", 0.2)
    bpy.ops.ed.undo()
    before = shown_again()
    stored(edit, 0.3)
    bpy.ops.ed.undo()
    assert_same(shown_again(), before)
    assert_same(shown_again(), look_anew())


def test_a_target_that_a_step_disables_is_left_behind() -> None:
    scene()
    for frame, place in ((1, NEAR), (11, NEXT)):
        put(thing("target"), location=place)
        thing("target").keyframe_insert("location", frame=frame)
    bpy.ops.ed.undo_push(message="start")
    stored("disable", 0.3)
    for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
        step()
    bpy.context.scene.frame_set(6)
    assert (
        chain("a").message
        == "'target' is animated, but disabled in viewports or excluded: enable it, and hide it by its eye"
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_is_what_would_be_found_anew(seed: int) -> None:
    chosen = random.Random(seed)
    scene()
    bpy.ops.ed.undo_push(message="start")
    for _ in range(20):
        stored(chosen.choice([*EDITS]), round(chosen.uniform(-0.6, 0.6), 2))
    position = 20
    for _ in range(60):
        is_back = position == 20 or (position > 0 and chosen.random() < 0.6)
        (bpy.ops.ed.undo if is_back else bpy.ops.ed.redo)()
        position += -1 if is_back else 1
        if chosen.random() < 0.7:
            kept = shown_again()
            assert_same(kept, look_anew())


@pytest.mark.parametrize("edit", ["turn", "turn a limb", "move the target", "move the bone", "influence"])
def test_limbs_that_are_as_they_were_are_not_looked_at_anew(edit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene()
    bpy.ops.ed.undo_push(message="start")
    for number in (0.3, -0.4):
        stored(edit, number)
    group, looked = installed.addon("addon.live.group"), []
    prepare = group.prepare
    monkeypatch.setattr(
        group, "prepare", lambda chain, *others: (looked.append(chain.object.name), prepare(chain, *others))
    )
    for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
        step()
    assert looked == (["b", "b"] if edit == "influence" else [])
