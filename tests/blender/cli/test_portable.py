"""Files whose chains go onto the rig, and back, by the program without a window."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.blender.bake_rigs import LENGTH, add_pole, make_chain, make_leg, motion
from tests.blender.programs import make_shot, open_file, others, run
from tests.blender.rigs import from_library

FRAMES = range(1, 25, 3)
SAME = 1e-5 * LENGTH


@pytest.fixture
def shot(tmp_path):
    return make_shot(tmp_path)


def runs_on(path: Any) -> str:
    return open_file(path).pose.bones["shin"].planar_ik.runs_on


def moved(ob: Any) -> Any:
    """The limb over frames, not in Edit Mode, which shows it at rest."""
    if ob.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    return motion(ob, FRAMES)


@pytest.mark.parametrize("case", ["as it is", "on a pole", "in POSE", "in EDIT", "not selectable", "off, and keyed"])
def test_no_limb_moves_onto_the_rig_or_back(shot, case):
    ob = open_file(shot)
    chain = ob.pose.bones["shin"].planar_ik
    if case == "on a pole":
        add_pole(chain)
    if case.startswith("in "):
        bpy.context.view_layer.objects.active = ob
        bpy.ops.object.mode_set(mode=case.removeprefix("in "))
    ob.hide_select = case == "not selectable"
    if case == "off, and keyed":
        for frame, state in ((1, False), (10, True)):
            chain.enabled = state
            ob.keyframe_insert('pose.bones["shin"].planar_ik_enabled', frame=frame)
    bpy.ops.wm.save_mainfile()
    before, beside = shot.read_bytes(), others(shot)
    ob = open_file(shot)
    mode, wanted = ob.mode, moved(ob)
    portable, live = shot.with_name("portable.blend"), shot.with_name("live.blend")
    for command, source, out, on in (("portable", shot, portable, "RIG"), ("live", portable, live, "EXTENSION")):
        code, lines, err = run(command, source, "-o", out)
        told = {"command": command, "file": str(source), "output": str(out)}
        assert (code, lines) == (0, [{**told, "scene": "Scene", "object": "leg", "chain": "shin"}]), err
        assert (runs_on(out), bpy.data.objects["leg"].mode) == (on, mode)
        assert abs(moved(bpy.data.objects["leg"]) - wanted).max() < SAME
    assert sorted(bpy.data.objects["leg"].data.bones.keys()) == ["hip", "shin", "thigh"]
    assert shot.read_bytes() == before
    assert others(shot) - beside == {"portable.blend", "live.blend"}


def test_what_is_portable_plays_without_the_extension(shot):
    wanted = motion(open_file(shot), FRAMES)
    assert run("portable", "--in-place", shot)[0] == 0
    assert others(shot) == set()
    ob = open_file(shot)
    bpy.context.scene.planar_ik.live = False
    assert abs(motion(ob, FRAMES) - wanted).max() < SAME


def test_a_chain_that_is_switched_off_goes_along(shot):
    open_file(shot).pose.bones["shin"].planar_ik.enabled = False
    bpy.ops.wm.save_mainfile()
    for command, on in (("portable", "RIG"), ("live", "EXTENSION")):
        code, _, err = run(command, "--in-place", shot)
        assert (code, runs_on(shot)) == (0, on), err
        assert not bpy.data.objects["leg"].pose.bones["shin"].planar_ik.enabled


def test_chains_of_other_scenes_and_rigs_of_one_armature(shot):
    """Whose bones all move in memory when those of one are edited."""
    ob = open_file(shot)
    twin = ob.copy()
    twin.name = "twin"
    scene = bpy.data.scenes.new("Second")
    scene.collection.objects.link(twin)
    scene.collection.objects.link(bpy.data.objects["target"])
    bpy.ops.wm.save_mainfile()
    wanted, out = motion(ob, FRAMES), shot.with_name("out.blend")
    code, lines, err = run("portable", "--strict", shot, "-o", out)
    assert (code, lines, out.exists()) == (6, [], False)
    assert "has more chains in other scenes" in err
    code, lines, err = run("portable", shot, "-o", out, "--chain", "leg:shin")
    assert (code, [line["object"] for line in lines]) == (0, ["leg"]), err
    assert "other scenes" in lines[0]["warnings"][0]
    code, lines, err = run("portable", "--strict", "--scene", "all", shot, "-o", out)
    assert (code, [(line["scene"], line["object"]) for line in lines]) == (0, [("Scene", "leg"), ("Second", "twin")]), (
        err
    )
    for name, scene in (("leg", "Scene"), ("twin", "Second")):
        open_file(out)
        bpy.context.window.scene = bpy.data.scenes[scene]
        assert abs(motion(bpy.data.objects[name], FRAMES) - wanted).max() < SAME


def hide(ob: Any) -> None:
    ob.hide_viewport = True


def hide_for_now(ob: Any) -> None:
    ob.hide_set(True)


def hide_collection(ob: Any) -> None:
    collection = bpy.data.collections.new("rigs")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    collection.hide_viewport = True


@pytest.mark.parametrize("how", [hide, hide_for_now, hide_collection])
def test_a_hidden_rig_is_converted_and_stays_hidden(shot, how):
    wanted = motion(open_file(shot), FRAMES)
    how(bpy.data.objects["leg"])
    bpy.ops.wm.save_mainfile()
    for command, on in (("portable", "RIG"), ("live", "EXTENSION")):
        code, _, err = run(command, "--in-place", shot)
        assert (code, runs_on(shot)) == (0, on), err
        ob = bpy.data.objects["leg"]
        assert not ob.visible_get()
        ob.hide_viewport = ob.users_collection[0].hide_viewport = False
        assert abs(motion(ob, FRAMES) - wanted).max() < SAME


def test_what_can_not_be_converted_is_refused_whole(shot):
    """One limb could be, the other one has an IK constraint."""
    open_file(shot)
    other = make_leg("other")
    make_chain(other)
    other.pose.bones["shin"].constraints.new("IK").target = bpy.data.objects["target"]
    bpy.ops.wm.save_mainfile()
    refused(shot, "portable", 6, "Constraint 'IK' of 'shin' moves 'thigh' too: mute or remove it")
    assert run("portable", "--in-place", shot, "--chain", "leg:shin")[0] == 0
    refused(shot, "live", 2, "has no chain 'other:shin' on the rig: it has leg:shin", "--chain", "other:shin")


def test_a_limb_that_something_else_turns_is_not_brought_back(shot):
    """As the extension would not pose it."""
    assert run("portable", "--in-place", shot)[0] == 0
    limit = open_file(shot).pose.bones["shin"].constraints.new("LIMIT_SCALE")
    said = f"Constraint '{limit.name}' moves 'shin' after the chain: mute or remove it"
    bpy.ops.wm.save_mainfile()
    refused(shot, "live", 6, said)


def test_a_file_without_such_chains_is_bad_input(shot):
    refused(shot, "live", 2, "has no chain on the rig in its scene 'Scene'")
    run("portable", "--in-place", shot)
    refused(shot, "portable", 2, "has no chain on the extension in its scene 'Scene'")


def test_a_farm_may_convert_what_is_converted(shot):
    """A job that is run again finds its work done."""
    run("portable", "--in-place", shot)
    before = shot.read_bytes()
    code, lines, err = run("portable", "--in-place", shot, "--allow-no-chains")
    assert (code, shot.read_bytes()) == (0, before), err
    assert [(line["command"], line["chain"]) for line in lines] == [("portable", None)]
    out = shot.with_name("out.blend")
    assert run("portable", shot, "-o", out, "--allow-no-chains")[0] == 0
    assert run("live", "--in-place", out)[0] == 0


@pytest.mark.parametrize("command", ["portable", "live", "bake"])
def test_a_linked_rig_is_refused(shot, command):
    if command == "live":
        run("portable", "--in-place", shot)
    from_library(shot, "leg")
    scene = shot.with_name("scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    refused(scene, command, 6, "chains of linked objects only, of which library overrides have to be made first: leg")
    if command != "live":
        return
    override(scene)  # of what runs on the rig in the library
    refused(scene, command, 6, "'leg' is linked")


def override(scene: Any) -> None:
    """Override the linked rig of a file."""
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    bpy.data.objects["leg"].override_create(remap_local_usages=True)
    bpy.ops.wm.save_mainfile()


def test_an_overridden_rig_runs_in_an_annex_and_comes_back(shot):
    from_library(shot, "leg", "target")
    scene = shot.with_name("scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    override(scene)

    def opened(path: Any) -> Any:
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")

    wanted = motion(opened(scene), FRAMES)
    for command, on in (("portable", "RIG"), ("live", "EXTENSION")):
        out = shot.with_name(f"{command}.blend")
        code, _, err = run(command, scene, "-o", out)
        assert code == 0, err
        ob = opened(out)
        assert ob.pose.bones["shin"].planar_ik.runs_on == on
        assert abs(motion(ob, FRAMES) - wanted).max() < SAME
        scene = out


def refused(shot: Any, command: str, status: int, sentence: str, *rest: str) -> None:
    """Ask that a file is refused in one line, and that nothing is written."""
    before = shot.read_bytes()
    words = rest if rest[:1] == ("--chain",) else ()
    for where in (("-o", shot.with_name("refused.blend")), ("--in-place",)):
        code, lines, err = run(command, shot, *where, *words)
        assert (code, lines) == (status, []), err
        told = [line for line in err.splitlines() if line.startswith("planar_ik: ")]
        assert sentence in told[-1]
        assert all(part in told[-1] for part in rest if not words)
        assert "Traceback" not in err
    assert shot.read_bytes() == before
    assert "refused.blend" not in others(shot)
