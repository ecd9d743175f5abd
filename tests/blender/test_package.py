"""The zip as a package: what it holds, and what enabling and disabling it leaves behind."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.rigs import LEG, NEAR, joints, make_chain, make_empty, make_rig, press, update

ROOT_FILES = {"__init__.py", "addon", "blender_manifest.toml", "LICENSE", "README.md"}


def test_it_is_enabled_from_the_user_repository(addon):
    assert installed.MODULE in bpy.context.preferences.addons
    assert addon.__name__ == f"{installed.MODULE}.addon"
    assert Path(bpy.utils.user_resource("EXTENSIONS")) in Path(addon.__file__).parents


def test_the_zip_holds_only_what_runs(addon):
    folder = Path(addon.__file__).parent.parent
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} <= ROOT_FILES
    files = [path for path in (folder / "addon").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in files} == {".py"}


def test_disabling_leaves_nothing_behind_and_enabling_brings_it_back():
    def traces() -> set[str]:
        handlers = [handler for name in dir(bpy.app.handlers) for handler in _handlers(name)]
        owners = (bpy.types.PoseBone, bpy.types.Scene, bpy.types.Object)
        return {
            *(f"type {name}" for name in dir(bpy.types) if "planar_ik" in name.lower()),
            *(f"property of {owner.__name__}" for owner in owners if hasattr(owner, "planar_ik")),
            *(f"handler {handler}" for handler in handlers if "planar_ik" in handler.__module__),
        }

    def _handlers(name: str) -> list:
        value = getattr(bpy.app.handlers, name)
        return value if isinstance(value, list) else []

    before = traces()
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    assert traces() == set()
    installed.enable()
    assert len(traces()) == len(before)


def test_disabling_forgets_what_was_found_out():
    """Bones may be moved in memory, and rigs edited, while nobody listens."""
    ob = make_rig(
        (*LEG, *(bone._replace(name=f"{bone.name}.R", parent=bone.parent and f"{bone.parent}.R") for bone in LEG))
    )
    make_chain(ob, ob, subtarget="hip.R")
    make_chain(ob, make_empty("target", NEAR), lower="shin.R", plane="SWING")
    press(ob, "make_portable", "shin.R")
    ob.pose.bones["hip"].rotation_mode = "XYZ"
    update()
    assert ob.pose.bones["shin.R"].planar_ik.reach == "REACHED"
    plan = installed.addon("addon.live.plan").plan
    status, modes = (installed.addon(f"addon.native.{name}") for name in ("status", "modes"))

    def known():
        ours = [vars(plan.pointers), vars(plan.renaming), vars(status), vars(modes)]
        names = ("_seen", "_given_back", "_places", "_became", "_sound", "_circles")
        return {name for each in ours for name in names if each.get(name)} | ({"told"} if plan.told else set())

    assert {"_seen", "_places", "_sound", "_circles"} <= known()
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    assert known() == set()


def test_disabling_shows_the_own_pose_of_live_limbs_at_once():
    """They stood still in the last solution, until the file was opened anew."""
    ob = make_rig()
    fk = joints(ob)
    make_chain(ob, make_empty("target", NEAR))
    update()
    solved = joints(ob)
    assert np.abs(np.subtract(solved, fk)).max() > 0.1
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    update()
    try:
        assert np.abs(np.subtract(joints(ob), fk)).max() < 1e-6
    finally:
        installed.enable()
    update()
    assert np.abs(np.subtract(joints(ob), solved)).max() < 1e-6


def test_drivers_that_read_a_setting_work_again_once_the_extension_is_enabled_again():
    """Blender tries none again that has failed, as it did while there were no settings."""
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", NEAR))
    driver = chain.target.driver_add("scale", 0).driver
    driver.type, read = "AVERAGE", driver.variables.new().targets[0]
    read.id, read.data_path = ob, 'pose.bones["shin"].planar_ik_influence'
    update()
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    update()
    bpy.context.scene.frame_set(2)
    assert not driver.is_valid
    installed.enable()
    chain = ob.pose.bones["shin"].planar_ik
    chain.influence = 0.4
    update()
    assert driver.is_valid
    assert chain.target.evaluated_get(bpy.context.evaluated_depsgraph_get()).scale.x == pytest.approx(0.4)
