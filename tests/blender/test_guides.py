"""What the guides say of names, scripts and lines of JSON, held against the extension itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.bake_rigs import make_chain as make_baked_chain
from tests.blender.bake_rigs import make_leg
from tests.blender.programs import run
from tests.blender.rigs import LEG, Bone, make_empty, make_rig

ROOT = Path(__file__).resolve().parents[2]
SCRIPTING, LINES = ((ROOT / "docs" / name).read_text("utf-8") for name in ("scripting.md", "json.md"))


def scripts_of(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def words_after(start: str, text: str) -> set[str]:
    """The words in backquotes of a sentence that starts so."""
    sentence = text[text.index(start) :].partition(".\n")[0].partition(". ")[0]
    return set(re.findall(r"`(\w+)`", sentence))


def leg_of_the_guides() -> Any:
    """The rig that the guides speak of, and an empty that is its target."""
    names = {"thigh": "thigh.L", "shin": "shin.L"}
    bones = [
        bone._replace(name=names.get(bone.name, bone.name), parent=names.get(bone.parent, bone.parent)) for bone in LEG
    ]
    ob = make_rig([*bones, Bone("foot_ik.L", (0.3, 0.2, -1.6), (0.3, 0.4, -1.6))], "Rig")
    make_empty("Foot", (0.3, 0.2, -1.6))
    return ob


@pytest.mark.parametrize("guide", ["README.md", "docs/scripting.md"])
def test_the_first_script_of_a_guide_reaches(guide, capsys):
    leg_of_the_guides()
    exec(scripts_of((ROOT / guide).read_text("utf-8"))[0], {})  # noqa: S102 - it is ours
    assert capsys.readouterr().out.startswith("REACHED ")


def test_the_script_that_converts(capsys):
    ob = leg_of_the_guides()
    constraint = ob.pose.bones["shin.L"].constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects["Foot"], 2
    exec(scripts_of(SCRIPTING)[1], {"bpy": bpy, "rig": ob})  # noqa: S102 - it is ours
    chain = ob.pose.bones["shin.L"].planar_ik
    assert "IK" not in {each.type for each in ob.pose.bones["shin.L"].constraints}
    assert (chain.reach, chain.runs_on) == ("REACHED", "RIG")


def test_the_guide_names_every_operator_and_no_other():
    named = words_after("Operators are", SCRIPTING)
    prefix = "planar_ik_"
    found = {name.removeprefix(prefix) for name in dir(bpy.ops.pose) if name.startswith(prefix)}
    assert named == found - {"preset_save"}  # which is Blender's, of the panel


def test_the_guide_names_every_setting_and_no_other():
    named = words_after("- What animates is on the pose bone", SCRIPTING)
    planes = {"REST", "SWING", "POLE"}
    names = {f"planar_ik_{name.removeprefix('planar_ik_').removeprefix('_')}" for name in named - planes}
    properties = bpy.types.PoseBone.bl_rna.properties
    assert names == {each.identifier for each in properties if each.identifier.startswith("planar_ik_")}
    assert planes == {item.identifier for item in properties["planar_ik_plane"].enum_items}


def test_the_guide_names_all_that_a_limb_answers():
    reaches = words_after("- `REACHED`", SCRIPTING) | words_after("Else `TOO_FAR`", SCRIPTING)
    group = type(make_rig().pose.bones["shin"].planar_ik).bl_rna.properties
    assert reaches == {item.identifier for item in group["reach"].enum_items}
    named = words_after("- The group `pose_bone.planar_ik`", SCRIPTING)
    assert named <= {each.identifier for each in group}


KEYS = {
    key: set(commands.split(", "))
    for names, commands in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([\w, ]+) \|", LINES, re.MULTILINE)
    for key in re.findall(r"`(\w+)`", names)
}
"""What the guide says of each key: in the lines of which commands it is."""


def documented(command: str) -> set[str]:
    return {key for key, commands in KEYS.items() if commands & {"all", command}}


AT_TIMES = {"problem", "skipped", "warnings"}
"""The keys that most lines do not have."""


def test_the_lines_of_json_hold_what_the_guide_says(tmp_path):
    make_baked_chain(make_leg(), plane="SWING")
    bpy.context.scene.frame_end = 3
    shot, bare, out = (tmp_path / name for name in ("shot.blend", "bare.blend", "out.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bpy.data.objects["leg"].pose.bones["shin"].planar_ik.target = None
    bpy.data.objects["leg"].pose.bones["shin"].planar_ik.enabled = False
    bpy.ops.wm.save_as_mainfile(filepath=str(bare))
    described = tmp_path / "chains.json"
    described.write_text('{"chains": [{"object": "leg", "bone": "shin", "target": "target"}]}')
    calls = {
        "bake": (shot, "-o", out),
        "report": (shot,),
        "add": (bare, described, "-o", out),
        "portable": (shot, "-o", tmp_path / "portable.blend"),
        "live": (tmp_path / "portable.blend", "-o", out),
    }
    for command, words in calls.items():
        code, lines, err = run(command, *words)
        assert (code, len(lines)) == (0, 1), err
        assert set(lines[0]) == documented(command) - AT_TIMES, command


def test_the_example_of_a_line_is_one():
    example = re.search(r"```json\n(.*?)```", LINES, re.DOTALL)
    assert set(json.loads(example[1])) == documented("bake") - AT_TIMES


def test_the_example_of_a_description_names_what_is_taken(tmp_path):
    """As the program's own help gives it."""
    help_of = installed.addon("addon.cli.help")
    text = help_of.ADD_EXAMPLE.partition("[[chains]]")[2]
    ob = leg_of_the_guides()
    bpy.data.objects["Foot"].name = "Foot.L"
    assert ob.name == "Rig"
    source, described = tmp_path / "rig.blend", tmp_path / "chains.toml"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    described.write_text("[[chains]]" + "\n".join(line.strip() for line in text.splitlines()))
    code, lines, err = run("add", source, described, "-o", tmp_path / "rigged.blend")
    assert (code, [line["target"] for line in lines]) == (0, ["Foot.L"]), err
