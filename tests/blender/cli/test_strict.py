"""What the program without a window says of files that are not what they were, and what is an error with --strict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.bake_rigs import make_chain, make_leg, motion
from tests.blender.programs import make_shot, open_file, others, run
from tests.blender.rigs import editing


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return make_shot(tmp_path)


def link_prop(shot: Path) -> Path:
    """Link an object from a library into a file, and give the library."""
    library = shot.parent / "lib" / "prop.blend"
    library.parent.mkdir()
    prop = bpy.data.objects.new("prop", None)
    bpy.data.libraries.write(str(library), {prop})
    bpy.data.objects.remove(prop)
    open_file(shot)
    with bpy.data.libraries.load("//lib/prop.blend", link=True, relative=True) as (_, linked):
        linked.objects = ["prop"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    bpy.ops.wm.save_mainfile()
    return library


def test_a_missing_library_is_told_and_with_strict_an_error(shot):
    library = link_prop(shot)
    library.rename(library.with_name("away.blend"))
    out = shot.with_name("out.blend")
    for command in (("report", shot), ("bake", shot, "-o", out)):
        code, lines, err = run(*command, "--strict", "--max-unreached", 99)
        assert (code, lines, out.exists()) == (5, [], False), err
        code, lines, err = run(*command)
        assert code == 0
        assert f"links what is not there: {library}" in err
        assert lines[0]["warnings"] == [f"{shot} links what is not there: {library}"]


def test_what_a_library_no_longer_holds_is_missing_too(shot):
    library = link_prop(shot)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.data.libraries.write(str(library), {bpy.data.objects.new("other", None)})
    code, _, err = run("report", "--strict", shot)
    assert code == 5
    assert f"Object 'prop' in {library}" in err


def test_what_was_baked_without_its_library_is_baked_again_with_it(shot, tmp_path_factory):
    library = link_prop(shot)
    away = library.with_name("away.blend")
    library.rename(away)
    words = ("bake", shot, "-o", shot.with_name("out.blend"), "--skip-existing")
    assert "skipped" not in run(*words)[1][0]
    assert json.loads((shot.parent / ".out.blend.planar_ik.json").read_text())["missing"] == ["lib/prop.blend"]
    _, (line,), err = run(*words)
    assert line["skipped"]
    assert line["warnings"][0] in err
    away.rename(library)
    assert "skipped" not in run(*words)[1][0]
    assert "skipped" in run(*words)[1][0]
    moved = Path(shutil.copytree(shot.parent, tmp_path_factory.mktemp("moved") / "there"))
    words = ("bake", moved / shot.name, "-o", moved / "out.blend", "--skip-existing")
    (line,) = run(*words)[1]
    assert (line["skipped"], line["output"]) == (True, str(moved / "out.blend"))
    (moved / "lib" / "prop.blend").unlink()
    assert "skipped" not in run(*words)[1][0]


def test_strict_allows_no_unreached_frame_unless_told(shot):
    code, lines, err = run("report", "--strict", shot)
    assert (code, len(lines)) == (3, 1)
    unreached = lines[0]["unreached"]
    assert f"{unreached} of 24 frames, and 0 are allowed" in err
    assert run("report", "--strict", "--max-unreached", unreached, shot)[0] == 0


def misses(chain: Any, frames: int) -> list[float]:
    """How far the tip is from its target, frame by frame, as Blender evaluates it."""
    found = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        posed = chain.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
        target = chain.planar_ik.target.matrix_world.translation
        found.append((posed.matrix_world @ posed.pose.bones[chain.name].tail - target).length)
    return found


@pytest.mark.parametrize("values", [{"softness": 0.2}, {"influence": 0.9}, {}], ids=["soft", "blended", "too far"])
@pytest.mark.parametrize("command", ["bake", "report"])
def test_frames_count_as_reached_as_near_to_the_target_as_was_said(shot, values, command):
    open_file(shot)
    shin = bpy.data.objects["leg"].pose.bones["shin"]
    for name, value in values.items():
        setattr(shin, f"planar_ik_{name}", value)
    bpy.ops.wm.save_mainfile()
    away = misses(shin, 24)
    words = [command, shot, "--strict", *(["-o", shot.with_name("out.blend")] if command == "bake" else [])]
    assert run(*words)[0] == 3
    between = (max(away) + min(each for each in away if each > 1e-3)) / 2.0
    code, _, err = run(*words, "--max-miss", between)
    assert code == 3
    beyond = sum(each > between for each in away)
    assert f"does not come to within {between:g} of its target in {beyond} of 24 frames" in err
    code, (line,), err = run(*words, "--max-miss", 1.01 * max(away))
    assert (code, line["unreached"]) == (0, 0), err


def test_a_chain_that_can_not_be_posed_is_left_out_of_no_strict_report(shot):
    open_file(shot)
    make_chain(make_leg("other")).target = None
    bpy.ops.wm.save_mainfile()
    code, lines, err = run("report", "--strict", "--max-unreached", 99, shot)
    assert (code, len(lines)) == (6, 2)
    assert "chain 'other:shin' can't be posed: 'shin' has no target" in err


def add_scene(shot: Path, *objects: Any) -> None:
    """A second scene, with a leg of its own."""
    window = bpy.context.window
    first = window.scene
    window.scene = bpy.data.scenes.new("Second")
    make_chain(make_leg("other"))
    bpy.context.scene.frame_end = 10
    window.scene = first
    bpy.ops.wm.save_mainfile()


def test_only_the_active_scene_is_taken_and_the_others_are_told(shot):
    open_file(shot)
    add_scene(shot)
    code, lines, err = run("report", shot)
    assert (code, [line["scene"] for line in lines]) == (0, ["Scene"])
    assert "has more chains in other scenes, which --scene takes by name or all at once: 'Second'" in err
    assert run("report", "--strict", "--max-unreached", 99, shot)[:2] == (6, [])
    assert run("report", "--strict", "--max-unreached", 99, "--chain", "leg:shin", shot)[0] == 0
    code, lines, _ = run("report", "--scene", "Second", shot)
    assert [(line["scene"], line["object"], line["frames"]) for line in lines] == [("Second", "other", 10)]
    code, lines, err = run("report", "--scene", "Third", shot)
    assert (code, lines) == (2, [])
    assert "has no scene 'Third': it has 'Scene', 'Second'" in err


@pytest.mark.parametrize("command", ["bake", "report", "portable"])
def test_a_rig_in_an_excluded_collection_is_told_and_left_out(shot, command):
    """Blender does not evaluate it, so that it plays as it stands."""
    open_file(shot)
    made = make_leg("stashed")
    make_chain(made)
    stash = bpy.data.collections.new("stash")
    bpy.context.scene.collection.children.link(stash)
    bpy.context.scene.collection.objects.unlink(made)
    stash.objects.link(made)
    bpy.context.view_layer.layer_collection.children["stash"].exclude = True
    bpy.ops.wm.save_mainfile()
    words = [command, shot] if command == "report" else [command, shot, "-o", shot.with_name("out.blend")]
    told = f"{shot} has more chains, of objects that its view layer excludes, and left out: stashed"
    code, lines, err = run(*words)
    assert (code, [line["object"] for line in lines]) == (0, ["leg"]), err
    assert told in err
    assert lines[0]["warnings"] == [told]
    code, lines, err = run(*words, "--strict")
    assert (code, lines) == (6, []), err
    assert told in err


@pytest.mark.parametrize("command", ["bake", "report"])
def test_a_chain_whose_bone_lost_its_parent_is_told_and_left_out(shot, command):
    open_file(shot)
    made = make_leg("orphan")
    make_chain(made)
    with editing(made):
        made.data.edit_bones["shin"].parent = None
    bpy.ops.wm.save_mainfile()
    words = [command, shot] if command == "report" else [command, shot, "-o", shot.with_name("out.blend")]
    told = f"{shot} has chains of bones that have no parent, and left out: orphan:shin"
    code, lines, err = run(*words)
    assert (code, [line["object"] for line in lines]) == (0, ["leg"]), err
    assert lines[0]["warnings"] == [told]
    code, lines, err = run(*words, "--strict")
    assert (code, lines) == (6, []), err
    assert told in err


def link_rig(shot: Path) -> None:
    """Link a leg that has a chain from a library into a file, without an override."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    make_chain(make_leg("guest"))
    library = shot.with_name("guest.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    open_file(shot)
    with bpy.data.libraries.load(str(library), link=True) as (_, linked):
        linked.objects = ["guest"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    bpy.ops.wm.save_mainfile()


@pytest.mark.parametrize("command", ["bake", "portable"])
def test_a_linked_rig_is_told_and_left_out(shot, command):
    """Among others; by itself, or by its name, it is refused. It can be reported on."""
    link_rig(shot)
    out = shot.with_name("out.blend")
    told = f"{shot} has chains of objects that are linked, not overridden, and left out: guest"
    code, lines, err = run(command, shot, "-o", out)
    assert (code, [line["object"] for line in lines]) == (0, ["leg"]), err
    assert told in err
    assert lines[0]["warnings"] == [told]
    out.unlink()
    strict = ("--strict", "--max-unreached", 99) if command == "bake" else ("--strict",)
    assert run(command, shot, "-o", out, *strict)[:2] == (6, [])
    assert run(command, shot, "-o", out, *strict, "--chain", "leg:shin")[0] == 0
    out.unlink()
    code, lines, err = run(command, shot, "-o", out, "--chain", "guest:shin")
    assert (code != 0, lines, out.exists()) == (True, [], False), err
    assert "'guest' is linked" in err or "make a library override" in err
    assert {line["object"] for line in run("report", shot)[1]} == {"leg", "guest"}


def test_all_scenes_are_baked_and_the_active_one_stays(shot):
    open_file(shot)
    add_scene(shot)
    bpy.context.window.scene = bpy.data.scenes["Second"]
    wanted = motion(bpy.data.objects["other"], range(1, 11))
    bpy.context.window.scene = bpy.data.scenes["Scene"]
    out = shot.with_name("out.blend")
    code, lines, err = run("bake", shot, "-o", out, "--scene", "all", "--strict", "--max-unreached", 99)
    assert code == 0, err
    assert [(line["scene"], line["object"], line["frames"]) for line in lines] == [
        ("Scene", "leg", 24),
        ("Second", "other", 10),
    ]
    open_file(out)
    assert bpy.context.scene.name == "Scene"
    bpy.context.window.scene = bpy.data.scenes["Second"]
    bpy.context.scene.planar_ik.live = False
    assert not bpy.data.objects["other"].pose.bones["shin"].planar_ik.enabled
    assert abs(motion(bpy.data.objects["other"], range(1, 11)) - wanted).max() < 2e-6


def test_a_chain_named_twice_is_one_chain(shot):
    code, lines, _ = run("report", shot, "--chain", "leg:shin", "--chain", "leg:shin")
    assert (code, len(lines)) == (0, 1)


def test_python_in_a_file_is_off_unless_asked_for(shot):
    """A driver by Python moves the target here; without it the target stands."""
    ob = open_file(shot)
    target = ob.pose.bones["shin"].planar_ik.target
    target.animation_data_clear()
    target.driver_add("location", 2).driver.expression = "-1.2 - (bpy.context.scene.frame_current / 100) ** 2"
    bpy.ops.wm.save_mainfile()
    before = shot.read_bytes()
    code, lines, err = run("report", shot)
    assert code == 0
    assert "drivers that stand still without Python, which --enable-autoexec runs: target: location" in err
    assert len(lines[0]["warnings"]) == 1
    assert run("report", "--strict", "--max-unreached", 99, shot)[:2] == (7, [])
    code, lines, err = run("bake", shot, "-o", shot.with_name("out.blend"), "--enable-autoexec")
    assert (code, "Python" in err, "warnings" in lines[0]) == (0, False, False)
    assert shot.read_bytes() == before
    bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    tips = motion(open_file(shot.with_name("out.blend")), (1, 24))[:, 2]
    assert tips[1, 2] < tips[0, 2] - 0.01


@pytest.mark.parametrize("is_on_rig", [False, True])
def test_a_rig_that_was_saved_in_edit_mode_is_played_and_saved_in_it_again(shot, is_on_rig):
    """There Blender evaluates it at rest."""
    ob = open_file(shot)
    ob.pose.bones["hip"].constraints.new("DAMPED_TRACK").target = ob.pose.bones["shin"].planar_ik.target
    bpy.ops.wm.save_mainfile()
    if is_on_rig:
        run("portable", "--in-place", shot)
    before = motion(open_file(shot))
    bpy.context.view_layer.objects.active = bpy.data.objects["leg"]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.wm.save_mainfile()
    out = shot.with_name("out.blend")
    code, (line,), err = run("bake", shot, "-o", out)
    assert (code, line["way"], "problem" in line) == (0, "isolated", False), err
    ob = open_file(out)
    assert ob.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(motion(ob) - before).max() < 1e-5


MOVING_TEXT = """import bpy
def move(scene, *_):
    bpy.data.objects["target"].location = (0.0, 0.2, -1.2 - 0.01 * scene.frame_current)
bpy.app.handlers.frame_change_pre.append(move)
"""


def test_a_text_that_moves_things_as_frames_change_is_told(shot):
    """The target stands where it was saved, in every frame, without the text."""
    target = open_file(shot).pose.bones["shin"].planar_ik.target
    target.animation_data_clear()
    text = bpy.data.texts.new("move.py")
    text.use_module = True
    text.write(MOVING_TEXT)
    bpy.ops.wm.save_mainfile()
    told = "texts that may move things as frames change, which --enable-autoexec runs: move.py"
    code, lines, err = run("report", "--max-unreached", 99, shot)
    assert (code, told in err, told in lines[0]["warnings"][0]) == (0, True, True)
    assert run("report", "--strict", "--max-unreached", 99, shot)[:2] == (7, [])
    out = shot.with_name("out.blend")
    code, lines, err = run("bake", shot, "-o", out, "--enable-autoexec")
    assert (code, "texts" in err, lines[0]["way"]) == (0, False, "stepped")
    tips = motion(open_file(out), (1, 24))[:, 2]
    assert tips[1, 2] < tips[0, 2] - 0.2


def test_formulas_that_blender_trusts_act_and_are_no_error(shot):
    """Though Python evaluates them."""
    target = open_file(shot).pose.bones["shin"].planar_ik.target
    target.animation_data_clear()
    target.driver_add("location", 2).driver.expression = "-1.2 - (frame / 100) ** 2"
    bpy.ops.wm.save_mainfile()
    code, _, err = run("bake", "--strict", "--max-unreached", 99, shot, "-o", shot.with_name("out.blend"))
    assert (code, "Python" in err) == (0, False), err
    tips = motion(open_file(shot.with_name("out.blend")), (1, 24))[:, 2]
    assert tips[1, 2] < tips[0, 2] - 0.01


def test_a_file_without_a_chain_is_a_success_where_that_is_asked_for(tmp_path):
    make_leg()
    shot, out = tmp_path / "bare.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    words = ("bake", shot, "-o", out, "--strict", "--skip-existing")
    assert run(*words)[:2] == (2, [])
    for skipped in (False, True):
        code, lines, err = run(*words, "--allow-no-chains")
        assert (code, [line["chain"] for line in lines]) == (0, [None]), err
        assert lines[0].get("skipped", False) == skipped
    assert open_file(out).name == "leg"
    before = shot.read_bytes()
    assert run("bake", "--in-place", shot, "--allow-no-chains")[0] == 0
    assert shot.read_bytes() == before
    assert others(shot) == {"out.blend", ".out.blend.planar_ik.json"}
