"""Random sessions: operators, edits, deletes, renames, undo, saves and loads, in any order. Nothing crashes, no
traceback is printed, and no limb says that it is on its target where it is not."""

from __future__ import annotations

import io
import logging
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender import oracle, rigs

FRAMES = 12

OFF = 1e-3
"""How far a tip may be off where a limb says that it is on its target, in lengths of the limb."""

LEFT_OUT = {"rna_type", "limbs", "taken", "worked", "lacks", "why", "ground", "is_asked", "for_game"}


def run(seed: int, steps: int) -> int:
    """A session; returns how many limbs were looked at. Raises `AssertionError` with what was done last."""
    rng, done, looked = random.Random(seed), list[str](), 0
    bpy.context.preferences.edit.use_global_undo = True
    _new_rig(rng)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(steps):
            step = rng.choices([_operator, _pose, _select, _edit, _history, _file], [10, 6, 5, 3, 3, 1])[0]
            rig = next((ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.users_scene), None)
            rig = rig or _new_rig(rng)
            with _printed() as text:
                try:
                    done.append(f"{step.__name__[1:]}: ")
                    done[-1] += str(step(rng, rig, Path(folder)))
                except RuntimeError as why:
                    done[-1] += f" {str(why).strip()}"
                bpy.context.view_layer.update()
            assert "Traceback" not in "".join((done[-1], *text)), f"seed {seed}, after {done[-12:]}: {text}"
            if os.environ.get("PLANAR_IK_FUZZ_TOLD"):
                print(done[-1], flush=True)
            lies, count = _lies()
            looked += count
            assert not lies, f"seed {seed}, after {done[-12:]}: {lies}"
    return looked


@contextmanager
def _printed() -> Iterator[list[str]]:
    """What is printed as an error within, once it is left."""
    text, records = list[str](), io.StringIO()
    told = logging.StreamHandler(records)
    logging.getLogger().addHandler(told)
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield text
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            logging.getLogger().removeHandler(told)
            text.append(file.read().decode(errors="replace") + records.getvalue())


def _lies() -> tuple[list[str], int]:
    """Limbs that say that they are on their targets and are not, and how many were looked at."""
    lies, count, live = list[str](), 0, bpy.context.scene.planar_ik.live  # type: ignore[attr-defined]
    for ob in bpy.context.view_layer.objects:
        for bone in ob.pose.bones if ob.type == "ARMATURE" and ob.mode != "EDIT" else ():
            limb = bone.planar_ik
            if not limb.enabled or (limb.mode == "LIVE" and not live):
                continue
            is_off = "IK Roll" in bone or bool(bone.get("IK Softness"))  # on purpose
            if limb.reach == "REACHED" and limb.influence == 1.0 and not is_off:
                expected, tip = oracle.expected(bone), oracle.seen(bone)[0][-1]
                if limb.tip == "TAIL":
                    tip = np.array(ob.matrix_world @ rigs.evaluated(ob).pose.bones[bone.name].tail)
                off = float(np.linalg.norm(tip - expected.target)) / max(expected.length, 1e-9)
                count += 1
                if off > OFF:
                    lies.append(f"{ob.name} {bone.name} is off by {off:.3g}, says {limb.message}")
    return lies, count


# what is done


def _new_rig(rng: random.Random) -> Any:
    ob = rigs.biped()
    for bone in rng.sample(list(ob.pose.bones), 4):
        for frame in (1, FRAMES):
            bone.rotation_quaternion = rigs.turn(rng, 0.3)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.ed.undo_push(message="rig")
    return ob


def _operator(rng: random.Random, rig: Any, _folder: Path) -> str:
    if rig.name in bpy.context.view_layer.objects and rng.random() < 0.9:
        rigs.activate(rig)
    operator = getattr(bpy.ops.pose, rng.choice([name for name in dir(bpy.ops.pose) if name.startswith("planar_ik")]))
    values = {}
    for prop in operator.get_rna_type().properties:
        if prop.identifier in LEFT_OUT or rng.random() < 0.6:
            continue
        if prop.type == "ENUM" and prop.enum_items:
            values[prop.identifier] = rng.choice([item.identifier for item in prop.enum_items])
        elif prop.type == "BOOLEAN":
            values[prop.identifier] = rng.random() < 0.5
        elif prop.identifier in ("frame_start", "frame_end"):
            values[prop.identifier] = rng.randint(1, FRAMES)
        elif prop.type in ("INT", "FLOAT"):
            number = rng.uniform(prop.soft_min, min(prop.soft_max, prop.soft_min + 10.0))
            values[prop.identifier] = round(number) if prop.type == "INT" else number
        elif prop.type == "STRING" and rng.random() < 0.3:
            values[prop.identifier] = rng.choice(rig.data.bones).name if rig.data.bones else ""
    said = f"{operator.idname_py()} {values}"
    try:
        return f"{said} {operator('EXEC_DEFAULT', True, **values) if operator.poll() else 'grey'}"
    except RuntimeError as why:
        raise RuntimeError(f"{said} {why}") from None


def _pose(rng: random.Random, rig: Any, _folder: Path) -> str:
    bones = [bone for bone in rig.pose.bones if not bone.name.startswith("MCH")]
    if not bones:
        return "no bones"
    bone = rng.choice(bones)
    sliders = [name for name, value in bone.items() if name.startswith("IK ") and isinstance(value, float)]
    if sliders and rng.random() < 0.5:
        path = rng.choice(sliders)
        bone[path] = rng.choice([0.0, 0.5, 1.0])
        path = f'["{path}"]'
    else:
        path, bone.location = "location", [rng.uniform(-0.3, 0.3) for _ in range(3)]
    rig.update_tag()
    if rng.random() < 0.4:
        bone.keyframe_insert(path, frame=rng.randint(1, FRAMES))
    bpy.context.scene.frame_set(rng.randint(1, FRAMES))
    bpy.ops.ed.undo_push(message="pose")
    return f"{bone.name} {path}"


def _select(rng: random.Random, rig: Any, _folder: Path) -> str:
    rigs.activate(rig)
    names = [bone.name for bone in rig.pose.bones]
    limbs = [bone.name for bone in rig.pose.bones if bone.planar_ik.enabled]
    some = rng.choice([names, limbs or names, rng.sample(names, min(len(names), 2))])
    if some:
        rigs.click(rig, *some)
    bpy.ops.ed.undo_push(message="select")
    return f"{len(some)} bones"


def _edit(rng: random.Random, rig: Any, _folder: Path) -> str:
    what = rng.choice([_live, _action, _scale, _copy, _delete, *([_rename, _constrain, _free, _bones] * 2)])
    if rig.pose.bones or what in (_live, _action, _scale):
        what(rng, rig)
    bpy.ops.ed.undo_push(message="edit")
    return what.__name__[1:]


def _live(_rng: random.Random, _rig: Any) -> None:
    bpy.context.scene.planar_ik.live ^= True  # type: ignore[attr-defined]


def _action(rng: random.Random, rig: Any) -> None:
    if rig.animation_data:
        rig.animation_data.action = rng.choice([None, *bpy.data.actions])


def _scale(rng: random.Random, rig: Any) -> None:
    rig.scale = (rng.choice([0.01, 1.0, 1.0, 2.0]),) * 3


def _copy(_rng: random.Random, rig: Any) -> None:
    rigs.activate(rig, "OBJECT")
    bpy.ops.object.duplicate()


def _delete(_rng: random.Random, rig: Any) -> None:
    rigs.activate(rig, "OBJECT")
    bpy.ops.object.delete()


def _rename(rng: random.Random, rig: Any) -> None:
    bone = rng.choice(list(rig.pose.bones))
    bone.name = f"{rng.choice(['new', 'thigh', 'a'])}{rng.randint(0, 9)}{rng.choice(['', '.L', '.R'])}"


def _constrain(rng: random.Random, rig: Any) -> None:
    first, *others = rig.pose.bones  # what hangs on the first makes no cycle with it
    if others:
        made = rng.choice(others).constraints.new(rng.choice(["COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK"]))
        if hasattr(made, "target"):
            made.target, made.subtarget = rig, first.name


def _free(rng: random.Random, rig: Any) -> None:
    bone = rng.choice([bone for bone in rig.pose.bones if bone.constraints] or list(rig.pose.bones))
    if bone.constraints:
        bone.constraints.remove(rng.choice(list(bone.constraints)))


def _bones(rng: random.Random, rig: Any) -> None:
    name = rng.choice(list(rig.pose.bones)).name
    rigs.activate(rig, "EDIT")
    bone = rig.data.edit_bones[name]
    if rng.random() < 0.3:
        rig.data.edit_bones.remove(bone)
    else:
        bone.tail.x += rng.uniform(-0.05, 0.05)
    if rng.random() < 0.9:
        rigs.activate(rig)


def _history(rng: random.Random, _rig: Any, _folder: Path) -> str:
    back = rng.random() < 0.6
    step = bpy.ops.ed.undo if back else bpy.ops.ed.redo
    if step.poll():
        step()
    return "undo" if back else "redo"


def _file(rng: random.Random, _rig: Any, folder: Path) -> str:
    path = folder / "session.blend"
    if path.exists() and rng.random() < 0.5:
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return "load"
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
    return "save"
