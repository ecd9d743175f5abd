"""Whatever fails half-way, the file is as it was: each operator, setter and task, broken at several places."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from math import sin
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

from .conftest import select

POINTS = 5
"""At so many places, evenly over all calls of ours, each case is broken."""

UNBROKEN = ("transaction.py", "backup.py", "alike.py", "words.py")
"""What puts things back is taken to work; `View` is of this kind too. So are handlers, whose errors Blender keeps."""


broken: list[str] = []


class Broken(BaseException):
    """What is raised: no refusal, and not even an Exception."""


LAST = {"remove_unused", "_baked", "_report_of", "cancel", "_items", "poll"}
"""What is done when all is done: unused empties go, a bake is told of, and Blender asks once more for a
list; and whether an operator can run, whose errors some Blenders take for yes."""


@cache  # each of our functions is called thousands of times
def is_breakable(file: str, name: str, addon: str) -> bool:
    """Whether a function, by its file and qualified name, is one of ours that a task is made of."""
    if not file.startswith(addon) or name.rpartition(".")[2].startswith("<") or "View." in name:
        return False
    return Path(file).name not in UNBROKEN and not any(f"/{room}/" in file for room in ("live", "solver"))


@cache
def is_aside(file: str, name: str, addon: str) -> bool:
    """Whether a function puts things back, is a handler, or is what is called after all is done."""
    plain = name.rpartition(".")[2]
    if Path(file).name in UNBROKEN and plain in {"restore", "forget"}:
        return True
    return file.startswith((f"{addon}/live/handlers", f"{addon}/ui/remembering")) or plain in LAST or "View." in name


@contextmanager
def breaking(addon: Any, at: int = 0) -> Iterator[list[int]]:
    """Raise as the function is called that is the ``at``-th of ours to be called; give how many are called."""
    folder, count = str(Path(addon().__file__).parent), [0]

    def look(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if is_breakable(code.co_filename, code.co_qualname, folder) and not is_called_aside(frame, folder):
            count[0] += 1
            if count[0] == at:
                broken.append(code.co_qualname)
                raise Broken(code.co_qualname)

    sys.settrace(look)
    try:
        yield count
    finally:
        sys.settrace(None)


def is_called_aside(frame: Any, folder: str) -> bool:
    """Whether something is called by what puts things back, by a handler, or after all is done."""
    while frame is not None:
        if is_aside(frame.f_code.co_filename, frame.f_code.co_qualname, folder):
            return True
        frame = frame.f_back
    return False


# what there is


def leg(mode: str = "", **options: Any) -> Any:
    """A biped with an animated leg, in whose file there is more: an NLA strip, a driver, a rig of the same armature."""
    ob = rigs.biped()
    ob.pose.bones["thigh.L"].rotation_mode = "XYZ"
    ob.animation_data_create()
    ob["of the rigger"] = 0.5
    spine = ob.pose.bones["spine"]
    spine["slider"] = 1.0
    spine.id_properties_ui("slider").update(min=0.0, max=2.0, description="What the rigger made")
    copy = spine.constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = ob, "hips"
    variable = copy.driver_add("influence").driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = ob, 'pose.bones["spine"]["slider"]'
    for frame in (1, 4, 9):
        ob.pose.bones["thigh.L"].rotation_euler = (0.4 + 0.1 * sin(frame), 0.1, 0.02 * frame)
        ob.pose.bones["thigh.L"].keyframe_insert("rotation_euler", frame=frame)
        ob.pose.bones["shin.L"].rotation_quaternion = (0.97, -0.24, 0.0, 0.0)
        ob.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=frame)
        ob.pose.bones["hips"].location.z = 0.01 * frame
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 5
    scene.frame_set(3)
    ob.pose.bones["hips"].location.x = 0.02  # no key has it
    bpy.context.view_layer.update()
    select("shin.L")
    if mode:
        bpy.ops.pose.planar_ik_add(mode=mode, **options)
        ob.pose.bones["shin.L"].keyframe_insert('["IK Swivel"]', frame=2)
        if options.get("controls") != "EMPTIES":
            target = ob.pose.bones["foot_ik.L"]
            target.location.y += 0.05
            target.keyframe_insert("location", frame=3)
        select("shin.L")
    return ob


def constrained(ob: Any) -> None:
    """IK constraints of Blender's on the left leg and arm."""
    for bone, chain in (("shin.L", 2), ("forearm.L", 2)):
        target = bpy.data.objects.new(f"to {bone}", None)
        target.location = rigs.place(ob, {"shin.L": "foot.L", "forearm.L": "hand.L"}[bone])
        bpy.context.collection.objects.link(target)
        made = ob.pose.bones[bone].constraints.new("IK")
        made.target, made.chain_count = target, chain
    bpy.context.view_layer.update()


def converted(mode: str) -> Any:
    ob = leg()
    constrained(ob)
    bpy.ops.pose.planar_ik_convert(mode=mode, which="ALL", tolerance=1.0)
    select("shin.L")
    return ob


def broken_up(mode: str) -> Any:
    """A limb whose target is gone."""
    ob = leg(mode, controls="EMPTIES")
    bpy.data.objects.remove(bpy.data.objects["foot_ik.L"])
    select("shin.L")
    return ob


def stretched(mode: str) -> Any:
    ob = leg(mode)
    ob.pose.bones["shin.L"].planar_ik.stretch = 0.5
    ob.pose.bones["shin.L"].keyframe_insert('["IK Stretch"]', frame=2)
    return ob


def keyed(of: Callable[..., Any], mode: str) -> Any:
    ob = of(mode)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    return ob


OPERATORS: dict[str, tuple[Callable[[str], Any], str, dict[str, Any]]] = {
    "add bones": (lambda mode: leg(), "add", {"controls": "BONES", "plane": "POLE"}),
    "add empties": (lambda mode: leg(), "add", {"controls": "EMPTIES", "plane": "POLE"}),
    "remove": (lambda mode: leg(mode, plane="POLE"), "remove", {}),
    "remove empties": (lambda mode: leg(mode, controls="EMPTIES", plane="POLE"), "remove", {}),
    "flip": (lambda mode: keyed(leg, mode), "flip", {}),
    "switch": (leg, "switch", {"to": "FK", "insert_keys": True}),
    "snap target": (leg, "snap_target", {}),
    "snap fk": (leg, "snap_fk", {}),
    "snap target over frames": (leg, "snap_target", {"use_range": True}),
    "snap fk over frames": (leg, "snap_fk", {"use_range": True}),
    "mirror": (leg, "mirror", {}),
    "bake": (leg, "bake", {"which": "ALL"}),
    "bake and remove": (leg, "bake", {"remove": True, "new_action": True}),
    "bake for games": (leg, "bake", {"for_game": True}),
    "convert": (lambda mode: constrained(leg()), "convert", {"which": "ALL", "tolerance": 1.0}),
    "unconvert": (converted, "unconvert", {}),
    "rebuild": (leg, "rebuild", {}),
    "to live": (leg, "to_live", {}),
    "to rig": (leg, "to_rig", {}),
    "set plane": (leg, "plane", {"plane": "POLE"}),
    "drop stretch": (stretched, "drop", {"feature": "STRETCH"}),
    "set foot": (leg, "foot_follows", {}),
    "set roll": (leg, "foot_roll", {}),
    "set pole follow": (lambda mode: leg(mode, plane="POLE"), "pole_follows", {}),
    "set limits": (leg, "knee_limits", {"max_angle": 2.5}),
    "set stretch limit": (leg, "stretch_limit", {"stretch_max": 3.0}),
    "pick a new target": (leg, "pick", {"role": "TARGET", "followed": "\n"}),
    "pick a new pole": (lambda mode: leg(mode, controls="EMPTIES"), "pick", {"role": "POLE", "followed": "\n"}),
    "mend": (broken_up, "mend", {"repair": "TARGET"}),
    "select": (leg, "select", {"role": "LIMB"}),
}
"""What there is, what is called, and how."""

ONLY = {"rebuild": "RIG", "to live": "RIG", "to rig": "LIVE"}


def setter(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda addon, last: setattr(last.planar_ik, name, value)


def added(addon: Any, last: Any) -> None:
    addon("tasks.adding").add(bpy.context, [addon("tasks.adding").Request(last.id_data.pose.bones["forearm.L"])])


SCRIPTS: dict[str, Callable[[Any, Any], None]] = {
    "softness": setter("softness", 0.1),
    "stretch": setter("stretch", 1.0),
    "max_angle": setter("max_angle", 2.5),
    "plane": setter("plane", "HINGE"),
    "chain_count": setter("chain_count", 3),
    "enabled": setter("enabled", False),
    "pole_target": lambda addon, last: setattr(last.planar_ik, "pole_target", bpy.data.objects["pole"]),
    "other enabled": lambda addon, last: setattr(last.id_data.pose.bones["shin.R"].planar_ik, "enabled", True),
    "add": added,
    "remove": lambda addon, last: addon("tasks.removing").remove(bpy.context, [last]),
    "mirror": lambda addon, last: addon("tasks.mirroring").mirror(bpy.context, [last]),
    "set_plane": lambda addon, last: addon("tasks.following").set_plane(bpy.context, [last], "POLE"),
    "to_rig": lambda addon, last: addon("tasks.modes").to_rig(bpy.context, [last]),
    "to_live": lambda addon, last: addon("tasks.modes").to_live(bpy.context, [last]),
    "bake": lambda addon, last: addon("bake").bake(
        bpy.context, addon("bake").Request([last], range(1, 5), remove=True)
    ),
}


# what is asked


def check(addon: Any, prepare: Callable[[], Any], run: Callable[[], Any]) -> None:
    """Break it at several places, and compare all of the file; at last let it work."""
    prepare()
    with breaking(addon) as count:
        run()
    total, before, broken[:] = count[0], None, []
    places = sorted({1 + int((k + 0.5) * total / POINTS) for k in rigs.share(range(POINTS))} | {total})
    for at in places:
        if before is None:
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            prepare()
            before = snapshot()
        is_done = False
        with suppress(Broken, RuntimeError, TypeError), breaking(addon, at) as count:
            is_done = run() != {"CANCELLED"}
        if is_done and count[0] < at:
            return
        found = differences(before, snapshot())
        assert not found, f"broken at call {at} of {total}, {broken[-1:]}: {found[:12]}"
        assert not is_done, f"call {at} of {total} did not break it: {broken}"
    run()


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("case", OPERATORS)
def test_operators(addon: Any, case: str, mode: str) -> None:
    if ONLY.get(case, mode) != mode:
        pytest.skip("there is nothing to do")
    prepare, name, options = OPERATORS[case]
    if case.startswith(("add", "convert")):
        options = {**options, "mode": mode}
    check(addon, lambda: prepare(mode), lambda: getattr(bpy.ops.pose, f"planar_ik_{name}")(**options))


@pytest.mark.makes_a_cycle(perhaps=True)  # for a moment, while a chain of bones is put back
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("case", SCRIPTS)
def test_setters_and_tasks(addon: Any, case: str, mode: str) -> None:
    def prepare() -> None:
        leg(mode)
        bpy.context.collection.objects.link(bpy.data.objects.new("pole", None))

    check(addon, prepare, lambda: SCRIPTS[case](addon, bpy.data.objects["rig"].pose.bones["shin.L"]))


def limbs_of(ob: Any) -> list[str]:
    return [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled]


def test_what_is_caught_takes_back_only_its_own(addon: Any) -> None:
    """One in another is a savepoint, and names that were held still lead to the same objects."""
    ob, whole = leg("RIG", controls="EMPTIES"), addon("blender.transaction").all_or_nothing
    target, bones = bpy.data.objects["foot_ik.L"], len(ob.data.bones)
    with whole(bpy.context, [ob]):
        ob.pose.bones["shin.R"].planar_ik.enabled = True
        with suppress(Broken), whole(bpy.context, [ob]):
            addon("tasks.removing").remove(bpy.context, [ob.pose.bones["shin.L"]])
            raise Broken
    assert limbs_of(ob) == ["shin.L", "shin.R"]
    assert len(ob.data.bones) == bones
    assert ob.pose.bones["shin.L"].planar_ik.target == target
    assert {each.name for each in bpy.data.objects} == {"rig", "foot_ik.L", "knee_pole.L"}


def test_a_rig_of_the_same_armature(addon: Any) -> None:
    """Bones that go are its too."""
    ob = leg("RIG")
    twin = ob.copy()
    twin.animation_data_clear()
    bpy.context.collection.objects.link(twin)
    twin.pose.bones["foot_ik.L"].constraints.new("COPY_LOCATION").target = ob
    before = snapshot()
    with suppress(Broken), addon("blender.transaction").all_or_nothing(bpy.context, [ob]):
        rigs.activate(ob, "EDIT")
        for name in ("foot_ik.L", "hips"):
            ob.data.edit_bones.remove(ob.data.edit_bones[name])
        ob.data.edit_bones["thigh.R"].head.x += 0.1
        rigs.activate(ob, "OBJECT")
        raise Broken
    assert not differences(before, snapshot())


@pytest.mark.parametrize("name", ["remove", "switch", "bake"])
def test_undo_has_no_half_step(addon: Any, monkeypatch: Any, name: str) -> None:
    bpy.context.preferences.edit.use_global_undo = True
    leg("RIG")
    module = {"remove": "limb.storage", "switch": "tasks.snapping", "bake": "limb.storage"}[name]
    broken = {"remove": "is_ours", "switch": "key_changes_from", "bake": "path_to_influence"}[name]
    bpy.data.objects["rig"]["step"] = 1
    bpy.ops.ed.undo_push(message="one")
    bpy.data.objects["rig"]["step"] = 2
    bpy.ops.ed.undo_push(message="two")

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("on purpose")

    for each in [addon(module), *(addon(f"bake.{file}") for file in ("job", "passes")), addon("rigging.apply")]:
        if hasattr(each, broken):
            monkeypatch.setattr(each, broken, fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        getattr(bpy.ops.pose, f"planar_ik_{name}")("EXEC_DEFAULT", True)
    bpy.ops.ed.undo()
    assert bpy.data.objects["rig"]["step"] == 1


def test_a_preview_range_that_is_not_set(biped: Any) -> None:
    leg("RIG")
    before = snapshot()
    with pytest.raises(RuntimeError, match="no preview range"):
        bpy.ops.pose.planar_ik_bake(range="PREVIEW")
    assert not differences(before, snapshot())
    bpy.context.scene.use_preview_range = True
    bpy.context.scene.frame_preview_start, bpy.context.scene.frame_preview_end = 2, 3
    assert bpy.ops.pose.planar_ik_bake(range="PREVIEW") == {"FINISHED"}


def test_live_is_not_busy_for_ever(addon: Any, monkeypatch: Any) -> None:
    """Taking back what was lent fails: what can be is taken back all the same, and the next event poses again."""
    ob = leg("LIVE")
    channels, posing = addon("blender.channels"), addon("live.posing")
    take_back, failed = channels.restore, []

    def fail(*args: Any) -> None:
        take_back(*args)
        failed.append(args)
        raise RuntimeError("on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(channels, "restore", fail)
        ob.pose.bones["foot_ik.L"].location.z += 0.1
        bpy.context.view_layer.update()
    assert len(failed) > 1
    assert not posing.is_posing()
    ob.pose.bones["foot_ik.L"].location.z += 0.05
    bpy.context.view_layer.update()
    assert (rigs.place(ob, "foot.L") - rigs.place(ob, "foot_ik.L")).length < 1e-5
