"""The sample file: assets that work without the extension, with feet that stay where they stand."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from scripts.sample.__main__ import write
from scripts.sample.building import FRAMES
from scripts.sample.figures import FIGURES


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "sample.blend"
    write(path)
    return path


def test_it_is_small_and_holds_two_assets(sample):
    assert sample.stat().st_size < 1_000_000
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(sample), assets_only=True) as (found, taken):
        taken.collections = found.collections
    assert sorted(each.name for each in taken.collections) == sorted(figure.name for figure in FIGURES)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_feet_and_hands_stay_while_the_hips_sink(sample, figure):
    bpy.ops.wm.open_mainfile(filepath=str(sample))
    rig = bpy.data.objects[figure.name]
    for lower in figure.limbs:
        chain = rig.pose.bones[lower].planar_ik
        assert (chain.runs_on, chain.reach) == ("RIG", "REACHED")
        assert chain.target == rig
    standing = {}
    for frame in FRAMES[:2]:
        bpy.context.scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        standing[frame] = {name: np.array(posed[name].matrix) for name in ("foot.L", "foot.R", "shin.L", "hips")}
    first, second = (standing[frame] for frame in FRAMES[:2])
    for foot in ("foot.L", "foot.R"):
        assert np.abs(first[foot] - second[foot]).max() < 1e-3
    assert np.abs(first["shin.L"] - second["shin.L"]).max() > 0.1
    assert first["hips"][2, 3] - second["hips"][2, 3] == pytest.approx(figure.height, abs=1e-4)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_controls_of_a_puppet_can_not_be_dragged_out_of_its_plane(sample, figure):
    bpy.ops.wm.open_mainfile(filepath=str(sample))
    rig = bpy.data.objects[figure.name]
    for lower in figure.limbs:
        chain = rig.pose.bones[lower].planar_ik
        control = rig.pose.bones[chain.subtarget]
        axes = control.bone.matrix_local.to_3x3().col
        locked = [axis for axis, is_locked in zip(axes, control.lock_location, strict=True) if is_locked]
        assert [abs(axis.y) > 0.999 for axis in locked] == ([True] if chain.plane == "REST" else [])


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_an_appended_character_leaves_nothing_lying_about(sample, figure):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.append(directory=f"{sample}/Collection/", filename=figure.name)
    bpy.context.view_layer.update()
    assert not bpy.context.scene.collection.objects
    shown = {ob.name for ob in bpy.context.view_layer.objects if ob.visible_get()}
    assert shown == {figure.name, f"{figure.name} Skin"}
    chain = bpy.data.objects[figure.name].pose.bones["shin.L"].planar_ik
    assert (chain.runs_on, chain.reach) == ("RIG", "REACHED")
