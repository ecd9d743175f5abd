"""Whatever fails half-way, the file is as it was: each operator, setter and task, broken at its writes, one after the
other. What succeeds warns of nothing."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from math import sin
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

from .conftest import select

PLACES = 7
"""Each case is broken at two writes, at one of so many places among its own, each at others, and once all is done."""

WRITES = {
    "blender.types": ("announce", "announce_keys"),
    "blender.animation": ("new_curve",),
    "blender.editing": ("collect", "remove_empty_collections", "_set_mode", "_show", "select_bone"),
    "blender.fcurves": ("write_keys", "insert_key_keeping_shape"),
    "blender.rotation": ("set_turn",),
    "limb.storage": ("make_limb", "make_slider", "remove_limb"),
    "limb.follow": ("set_follow",),
    "rigging.controls": ("add_control_bone", "finish_control", "draw_bone", "widget_of"),
    "rigging.description": ("keep_settings",),
    "rigging.build": ("add_helper_bone", "finish_helper", "constrain", "drive", "put_at"),
    "tasks.converted": ("switch_pole",),
}
"""What writes, by the module that has it; it is broken as it is called, wherever it is called from."""


class Broken(BaseException):
    """What is raised: no refusal, and not even an Exception."""


class Breaking:
    """Counts the writes of a case, and breaks it at one of them. What brings things back is left alone."""

    def __init__(self, addon: Any, monkeypatch: Any) -> None:
        self.count = self.at = 0
        transaction = addon("blender.transaction")
        self.open, self.is_restoring = transaction._open, False
        package = addon().__name__
        reals = {id(getattr(addon(place), name)) for place, names in WRITES.items() for name in names}
        modules = [module for name, module in sys.modules.items() if name.startswith(package)]
        for module in modules:
            for name, value in [*vars(module).items()]:
                if id(value) in reals:
                    monkeypatch.setattr(module, name, self._counted(value))
        monkeypatch.setattr(transaction.Transaction, "restore", self._left_alone(transaction.Transaction.restore))

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def write(*args: Any, **options: Any) -> Any:
            self._look(real.__name__)
            return real(*args, **options)

        return write

    def _left_alone(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def restore(*args: Any) -> None:
            was, self.is_restoring = self.is_restoring, True
            real(*args)
            self.is_restoring = was

        return restore

    def _look(self, name: str) -> None:
        if self.open and not self.is_restoring:
            self.count += 1
            if self.count == self.at:
                raise Broken(name)


# what there is


def leg(mode: str = "", by_hand: bool = True, **options: Any) -> Any:
    """A biped with an animated leg, in whose file there is more: what a rigger made, another action, and what comes
    from a library, with an action of that. Each kind is made once."""
    kind = zlib.crc32(repr((mode, by_hand, options)).encode())
    rigs.opened(f"leg {kind}", lambda: make_leg(mode, by_hand, options))
    ob = bpy.data.objects["rig"]
    ob.pose.bones["hips"].location.x = 0.02  # no key has it
    bpy.context.view_layer.update()
    return ob


def make_leg(mode: str, by_hand: bool, options: dict[str, Any]) -> None:
    """Make it in this file."""
    prop()
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
    spine.color.palette, spine.color.custom.normal = "CUSTOM", (0.1, 0.3, 0.5)
    another(ob, "shin.R")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 5
    scene.frame_set(3)
    ob.pose.bones["hips"].location.x = 0.02
    bpy.context.view_layer.update()
    select("shin.L")
    if mode:
        bpy.ops.pose.planar_ik_add(mode=mode, **options)
        ob.pose.bones["shin.L"].keyframe_insert('["IK Swivel"]', frame=2)
        if by_hand:
            target = ob.pose.bones["foot_ik.L"]
            target.location.y += 0.05
            target.keyframe_insert("location", frame=3)
        select("shin.L")


def prop() -> None:
    """An animated object of a library."""
    path = Path(bpy.app.tempdir) / "prop.blend"
    if not path.exists():
        made = bpy.data.objects.new("prop", None)
        made.keyframe_insert("location", frame=1)
        bpy.data.libraries.write(str(path), {made})
        bpy.data.actions.remove(made.animation_data.action)
        bpy.data.objects.remove(made)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["prop"]
    bpy.context.collection.objects.link(wanted.objects[0])


def another(ob: Any, moves: str) -> None:
    """Another action of a rig, which nothing uses, and which moves one of its bones."""
    own, slot = ob.animation_data.action, ob.animation_data.action_slot
    ob.animation_data.action = other = bpy.data.actions.new("another")
    other.use_fake_user = True
    for frame in (1, 3):
        ob.pose.bones[moves].rotation_mode = "XYZ"
        ob.pose.bones[moves].rotation_euler = (0.2 * frame, 0.1, 0.0)
        ob.pose.bones[moves].keyframe_insert("rotation_euler", frame=frame)
    ob.animation_data.action = own
    ob.animation_data.action_slot = slot
    bpy.context.scene.frame_set(3)


def of_library(mode: str) -> Any:
    """A limb whose rig has an action from another file."""
    ob = leg(mode)
    own = ob.animation_data.action
    path, identifier = Path(bpy.app.tempdir) / "moves.blend", ob.animation_data.action_slot.identifier
    bpy.data.libraries.write(str(path), {own}, fake_user=True)
    name = own.name
    bpy.data.actions.remove(own)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.actions = [name]
    ob.animation_data.action = wanted.actions[0]
    ob.animation_data.action_slot = wanted.actions[0].slots[identifier]
    bpy.context.scene.frame_set(3)
    select("shin.L")
    return ob


def resting(mode: str, **options: Any) -> Any:
    """A limb that nothing has moved yet."""
    prop()
    ob = rigs.biped()
    select("shin.L")
    bpy.ops.pose.planar_ik_add(mode=mode, **options)
    return ob


def constrained(ob: Any) -> None:
    """IK constraints of Blender's on the left leg and arm."""
    for bone, chain in (("shin.L", 2), ("forearm.L", 2)):
        target = rigs.empty(f"to {bone}", rigs.place(ob, {"shin.L": "foot.L", "forearm.L": "hand.L"}[bone]))
        made = ob.pose.bones[bone].constraints.new("IK")
        made.target, made.chain_count = target, chain
    bpy.context.view_layer.update()


def converted(mode: str) -> Any:
    ob = leg()
    constrained(ob)
    bpy.ops.pose.planar_ik_convert(mode=mode, which="ALL", tolerance=1.0)
    select("shin.L")
    return ob


def halves(made: bool = False) -> None:
    """Two bones that are a cylinder, or can be one."""
    rigs.biped()
    select("foot.R", "hand.R")
    if made:
        bpy.ops.pose.planar_ik_cylinder()


def broken_up(mode: str) -> Any:
    """A limb whose target is gone."""
    ob = leg(mode)
    ob.pose.bones["shin.L"].planar_ik.target = goal = bpy.data.objects.new("goal", None)
    bpy.data.objects.remove(goal)
    select("shin.L")
    return ob


def stretched(mode: str) -> Any:
    ob = leg(mode)
    ob.pose.bones["shin.L"].planar_ik.stretch = 0.5
    ob.pose.bones["shin.L"].keyframe_insert('["IK Stretch"]', frame=2)
    return ob


def keyed(of: Callable[..., Any], mode: str) -> Any:
    ob = of(mode)
    bpy.context.scene.frame_set(3)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    return ob


def moved_otherwise() -> Any:
    """Constraints on bones that another action of the rig moves too."""
    ob = leg()
    constrained(ob)
    another(ob, "thigh.L")
    return ob


Case = tuple[Callable[[str], Any], str, dict[str, Any]]

OPERATORS: dict[str, Case] = {
    "add bones": (lambda mode: leg(), "add", {"plane": "POLE", "foot_roll": True, "mode": "RIG"}),
    "add live": (lambda mode: leg(), "add", {"plane": "POLE", "mode": "LIVE"}),
    "remove": (lambda mode: leg(mode, by_hand=False, plane="POLE"), "remove", {}),
    "flip": (lambda mode: keyed(leg, mode), "set", {"flip": True}),
    "switch": (of_library, "switch", {"to": "FK", "insert_keys": True}),
    "snap target": (leg, "snap_target", {"use_range": True}),
    "snap with a library's action": (of_library, "snap_target", {"use_range": True}),
    "snap fk": (lambda mode: leg("LIVE"), "snap_fk", {"use_range": True}),
    "mirror": (leg, "mirror", {"use_range": True}),
    "parent": (lambda mode: rigs.click(leg(mode), "hand.R"), "parent", {"parent": "rig\nhips", "use_range": True}),
    "hold": (leg, "hold", {"range": "GIVEN", "frame_start": 2, "frame_end": 3}),
    "find contacts": (leg, "find_contacts", {"height": 1.0, "speed": 1.0}),
    "plant": (leg, "plant", {"height": 1.0, "speed": 1.0}),
    "bake": (leg, "bake", {"which": "ALL"}),
    "bake and remove": (lambda mode: leg("LIVE", by_hand=False), "bake", {"remove": True, "new_action": True}),
    "bake for games": (leg, "bake", {"for_game": True}),
    "bake a library's action": (of_library, "bake", {"new_action": True}),
    "convert": (lambda mode: constrained(leg()), "convert", {"which": "ALL", "mode": "RIG"}),
    "convert in all actions": (lambda mode: moved_otherwise(), "convert", {"all_actions": True, "mode": "LIVE"}),
    "unconvert": (converted, "unconvert", {}),
    "rebuild": (leg, "rebuild", {}),
    "to live": (leg, "set", {"mode": "LIVE"}),
    "to rig": (lambda mode: leg("LIVE"), "set", {"mode": "RIG"}),
    "plane": (leg, "set", {"plane": "POLE"}),
    "drop stretch": (stretched, "set", {"stretch": False, "softness": True, "stretch_max": 3.0}),
    "foot follows": (leg, "set", {"foot_follows": False}),
    "foot roll": (leg, "set", {"foot_roll": True}),
    "no foot roll": (lambda mode: leg("LIVE", foot_roll=True), "set", {"foot_roll": False}),
    "pole follow": (lambda mode: leg(mode, plane="POLE"), "set", {"pole_follows": True}),
    "root limits": (lambda mode: resting(mode, plane="HINGE"), "set", {"root_max_angle": 2.0}),
    "all at once": (leg, "set", {"twist": True, "plane": "POLE", "max_angle": 2.5, "flip": True, "mode": "LIVE"}),
    "pick a new target": (leg, "pick", {"role": "TARGET", "followed": "\n"}),
    "pick a new pole": (lambda mode: leg("LIVE"), "pick", {"role": "POLE", "followed": "\n"}),
    "repair": (broken_up, "repair", {"repair": "TARGET"}),
    "cylinder": (lambda mode: halves(), "cylinder", {}),
    "no cylinder": (lambda mode: halves(made=True), "cylinder", {"remove": True}),
    "select": (leg, "select", {"role": "TARGET"}),
}
"""What there is, what is called, and how."""


EVALUATIONS = {
    "add": 39, "remove": 7, "set": 29, "switch": 10, "snap_target": 8, "snap_fk": 27, "mirror": 14, "hold": 4,
    "parent": 8, "find_contacts": 1, "plant": 11, "bake": 25, "convert": 43, "unconvert": 7, "rebuild": 13, "pick": 64,
    "repair": 19, "cylinder": 6, "select": 1,
}  # fmt: skip
"""How often each operator has the scene evaluated at most in these cases, of five frames and up to nine keyed ones;
frames that it steps through count too."""


def setter(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda addon, last: setattr(last.planar_ik, name, value)


def added(addon: Any, last: Any) -> None:
    addon("tasks.adding").add(bpy.context, [addon("tasks.adding").LimbRequest(last.id_data.pose.bones["forearm.L"])])


SCRIPTS: dict[str, Callable[[Any, Any], None]] = {
    "chain_count": setter("chain_count", 3),
    "pole_target": lambda addon, last: setattr(last.planar_ik, "pole_target", bpy.data.objects["pole"]),
    "other enabled": lambda addon, last: setattr(last.id_data.pose.bones["shin.R"].planar_ik, "enabled", True),
    "add": added,
}


# what is asked


def check(addon: Any, monkeypatch: Any, case: str, run: Callable[[], Any]) -> None:
    """Break something at its end and at several writes, compare all of the file, and let it work at last."""
    before, whole = snapshot(), addon("blender.transaction").all_or_nothing
    with monkeypatch.context() as patch:
        breaking = Breaking(addon, patch)
        with suppress(Broken), whole(bpy.context):  # which takes back what was done, as if it had failed at its end
            run()
            raise Broken
        found = differences(before, snapshot())
        assert not found, f"broken at its end: {found[:12]}"
        total = breaking.count
        place = zlib.crc32(case.encode()) % PLACES
        for at in sorted({1 + place * total // (2 * PLACES), 1 + (PLACES + place) * total // (2 * PLACES)}):
            breaking.count, breaking.at, is_done = 0, at, False
            with suppress(Broken, RuntimeError, TypeError):
                is_done = run() != {"CANCELLED"}
            if is_done and breaking.count < at:
                return
            assert not is_done, f"write {at} of {total} did not break it"
            found = differences(before, snapshot())
            assert not found, f"broken at write {at} of {total}: {found[:12]}"
    run()


def test_no_operator_is_left_out(addon: Any) -> None:
    here = {f"pose.planar_ik_{name}" for _, name, _ in OPERATORS.values()}
    assert {each.bl_idname for each in addon("ui").CLASSES if issubclass(each, bpy.types.Operator)} - {
        "pose.planar_ik_pie"
    } == here


@pytest.mark.parametrize("case", OPERATORS)
def test_operators(addon: Any, monkeypatch: Any, capfd: Any, case: str) -> None:
    prepare, name, options = OPERATORS[case]
    prepare("RIG")
    bpy.context.view_layer.update()
    capfd.readouterr()
    evaluated: list[int] = []
    work = getattr(bpy.ops.pose, f"planar_ik_{name}")
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: evaluated.append(1))
    check(addon, monkeypatch, case, lambda: (evaluated.clear(), work(**options))[1])
    bpy.app.handlers.depsgraph_update_post.pop()
    assert len(evaluated) <= EVALUATIONS[name]
    told = capfd.readouterr().out
    assert "Warning:" not in told, told
    assert "backup" not in told


@pytest.mark.parametrize("case", SCRIPTS)
def test_setters_and_tasks(addon: Any, monkeypatch: Any, case: str) -> None:
    leg("RIG", pole_follows=False)
    rigs.empty("pole")
    check(addon, monkeypatch, case, lambda: SCRIPTS[case](addon, bpy.data.objects["rig"].pose.bones["shin.L"]))


def limbs_of(ob: Any) -> list[str]:
    return [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled]


def test_what_is_caught_takes_back_only_its_own(addon: Any) -> None:
    """One in another is a savepoint, and names that were held still lead to the same objects."""
    ob, whole = leg("RIG"), addon("blender.transaction").all_or_nothing
    ob.pose.bones["shin.L"].planar_ik.target = target = bpy.data.objects.new("goal", None)
    bones = len(ob.data.bones)
    with whole(bpy.context):
        ob.pose.bones["shin.R"].planar_ik.enabled = True
        with suppress(Broken), whole(bpy.context):
            addon("tasks.modes").remove(bpy.context, [ob.pose.bones["shin.L"]])
            raise Broken
    assert limbs_of(ob) == ["shin.L", "shin.R"]
    assert len(ob.data.bones) == bones
    assert ob.pose.bones["shin.L"].planar_ik.target == target
    assert {"rig", "prop", "goal"} <= {each.name for each in bpy.data.objects}


@pytest.mark.names_nothing  # what is broken here
def test_a_rig_of_the_same_armature(addon: Any) -> None:
    """Bones that go are its too."""
    ob = leg("RIG")
    twin = ob.copy()
    twin.animation_data_clear()
    bpy.context.collection.objects.link(twin)
    twin.pose.bones["foot_ik.L"].constraints.new("COPY_LOCATION").target = ob
    before = snapshot()
    with suppress(Broken), addon("blender.transaction").all_or_nothing(bpy.context):
        addon("blender.types").announce(ob)
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
    broken = {"remove": "is_mechanism_constraint", "switch": "key_changes_from", "bake": "path_to_slider"}[name]
    bpy.data.objects["rig"]["step"] = 1
    bpy.ops.ed.undo_push(message="one")
    bpy.data.objects["rig"]["step"] = 2
    bpy.ops.ed.undo_push(message="two")

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("on purpose")

    for each in [addon(module), addon("tasks.baking"), addon("motion.seen"), addon("rigging.build")]:
        if hasattr(each, broken):
            monkeypatch.setattr(each, broken, fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        getattr(bpy.ops.pose, f"planar_ik_{name}")("EXEC_DEFAULT", True)
    bpy.ops.ed.undo()
    assert bpy.data.objects["rig"]["step"] == 1


def test_no_copy_stays_a_user_of_actions(biped: Any) -> None:
    biped.data["smile"] = 0.0
    biped.data.keyframe_insert('["smile"]')
    rigs.click(biped, "shin.L")
    bpy.ops.pose.planar_ik_add()
    assert biped.data.animation_data.action_slot.users() == [biped.data]


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
    posing, rotation = addon("live.posing"), addon("blender.rotation")
    take_back, failed = rotation.restore_rows, []

    def fail(*args: Any) -> None:
        take_back(*args)
        failed.append(args)
        raise RuntimeError("on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(rotation, "restore_rows", fail)
        ob.pose.bones["foot_ik.L"].location.z += 0.1
        bpy.context.view_layer.update()
    assert len(failed) > 1
    assert not posing.is_posing()
    ob.pose.bones["foot_ik.L"].location.z += 0.05
    bpy.context.view_layer.update()
    assert (rigs.place(ob, "foot.L") - rigs.place(ob, "foot_ik.L")).length < 1e-5
