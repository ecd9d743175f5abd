"""A limb is where geometry says, whatever it is like and whoever shows it."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender import cases, oracle

pytestmark = [pytest.mark.dear, pytest.mark.xdist_group("poses")]  # which all open the files that one process makes

CASES = cases.pairs()


@pytest.fixture(scope="module")
def files(tmp_path_factory, addon):
    """The limbs of all cases in two files: live, and on the rig."""
    folder = tmp_path_factory.mktemp("poses")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)  # This comes before what empties the file.
    lasts = cases.crowd(CASES)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "LIVE.blend"))
    addon("tasks.modes").to_rig(bpy.context, lasts)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "RIG.blend"))
    return folder


@pytest.fixture
def opened(files):
    """Opens the file of a mode; the last bones of its limbs."""

    def open_file(mode):
        bpy.ops.wm.open_mainfile(filepath=str(files / f"{mode}.blend"))
        return lasts_now()

    return open_file


def lasts_now():
    return [bpy.data.objects[f"rig {i}"].pose.bones["lower"] for i in range(len(CASES))]


def at(frame):
    bpy.context.scene.frame_set(frame)


def over_frames(complain):
    found = []
    for frame in cases.FRAMES:
        at(frame)
        for i, case in enumerate(CASES):
            found += [f"frame {frame} rig {i}: {each} {case}" for each in complain(i)]
    assert not found, "\n".join(found)


def differences(want, joints, axes):
    """How what is seen differs from where a limb has to be."""
    off = np.linalg.norm(joints - want.joints, axis=1) / want.length
    allowed = (1e-5, 5e-4, 1e-5) if want.influence in (0.0, 1.0) else (1e-5, 1e-3, 1e-3)
    root, knee, tip = allowed
    for k, one in enumerate(off):
        if not one <= (root if k == 0 else tip if k == len(off) - 1 else knee):
            yield f"joint {k} off by {one:.1e}"
    turned = max(float(np.abs(a - b).max()) for a, b in zip(axes, want.axes, strict=True))
    if not turned < 3e-3:
        yield f"axes off by {turned:.1e}"


def untrue(last, want, joints):
    """What a limb says of itself that is not so."""
    status = last.planar_ik.status
    if status.reach.name != want.reach:
        yield f"{status.reach.name} is {want.reach}: {status.message}"
    residual = float(np.linalg.norm(joints[-1] - want.target))
    if not abs(status.residual - residual) <= 1e-6 + 1e-5 * want.length:
        yield f"residual {status.residual:.6f} is {residual:.6f}"


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_shown(opened, mode):
    lasts = opened(mode)

    def complain(i):
        last, want = lasts[i], oracle.expected(lasts[i])
        joints, axes, _ = oracle.seen(last)
        assert last.planar_ik.mode == mode
        if is_smooth(CASES[i], want.influence):
            yield from differences(want, joints, axes)
            yield from untrue(last, want, joints)

    over_frames(complain)


def is_smooth(case, influence):
    """Whether a limb has to be at one place: between FK and IK below shear, any smooth blend will do."""
    return case["parents"] != "SHEARED" or influence in (0.0, 1.0)


class Shown(NamedTuple):
    """What was seen of all limbs: joints and axes (limbs, 5 + 4 * 3, 3) in each frame; the last ones again where a limb
    has fewer."""

    frames: list[np.ndarray]
    lengths: np.ndarray

    def differences(self, other, most=1e-5):
        for frame, was, now in zip(cases.FRAMES, self.frames, other.frames, strict=True):
            off = np.abs(was - now).max(axis=-1)
            off[:, :5] /= self.lengths[:, None]
            for i, (joints, axes) in enumerate(zip(off[:, :5].max(axis=1), off[:, 5:].max(axis=1), strict=True)):
                if not (joints <= most and axes <= 200 * most):
                    yield f"frame {frame} rig {i}: {joints:.1e}, {axes:.1e} {CASES[i]}"


def look(lasts, depsgraph=None):
    """What is seen of limbs now, also if they are none any more."""
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    rows = []
    for last, case in zip(lasts, CASES, strict=True):
        segments = (2, 1) if case["has_twist"] else (1,) * case["bones"]
        joints, axes, _ = oracle.seen_of(last.id_data.evaluated_get(depsgraph), last.name, segments)
        more = 4 - len(segments)
        rows.append(np.concatenate([joints, *[joints[-1:]] * more, *(each.T for each in (*axes, *[axes[-1]] * more))]))
    return np.array(rows)


def shown(lasts):
    frames = []
    for frame in cases.FRAMES:
        at(frame)
        frames.append(look(lasts))
    joints = frames[0][:, :5]
    return Shown(frames, np.linalg.norm(np.diff(joints, axis=1), axis=-1).sum(axis=1))


def same(before, after, most=1e-5, but=()):
    found = [each for each in before.differences(after, most) if not any(f"rig {i}:" in each for i in but)]
    assert not found, "\n".join(found)


SHEARED = [i for i, case in enumerate(CASES) if not is_smooth(case, case["influence"])]
"""Between FK and IK below shear, Blender blends poses on the rig to some that no channels have."""


def test_without_the_extension(opened):
    before = shown(opened("RIG"))
    installed.disable()
    try:
        assert not hasattr(bpy.types.PoseBone, "planar_ik")
        same(before, shown(opened("RIG")), 1e-6)
    finally:
        installed.enable()


class Probe(bpy.types.RenderEngine):
    """Looks at what is to be rendered."""

    bl_idname = "PROBE"
    bl_label = "Probe"
    bl_use_preview = False
    looks: ClassVar[list] = []

    def render(self, depsgraph):
        self.looks.append(
            look([each.evaluated_get(depsgraph).pose.bones["lower"] for each in rig_objects()], depsgraph)
        )


def rig_objects():
    return [bpy.data.objects[f"rig {i}"] for i in range(len(CASES))]


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_rendered(opened, mode, tmp_path):
    before = shown(opened(mode))
    bpy.utils.register_class(Probe)
    Probe.looks.clear()
    try:
        scene = bpy.context.scene
        scene.camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
        scene.collection.objects.link(scene.camera)
        scene.render.engine, scene.render.filepath = "PROBE", str(tmp_path / "frame")
        scene.render.resolution_x = scene.render.resolution_y = 8
        bpy.ops.render.render(animation=True)
    finally:
        bpy.utils.unregister_class(Probe)
    same(before, before._replace(frames=Probe.looks))
