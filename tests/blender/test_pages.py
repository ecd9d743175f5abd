"""What README and guides show runs as it stands there."""

import re

import bpy
import pytest

from scripts import package
from tests.blender import rigs

RELEASES = "../../releases/latest"
"""As hosts of repositories resolve it, from the page of a file."""

PAGES = ("README.md", "docs/scripting.md")


def test_the_readme_is_short():
    assert len((package.ROOT / "README.md").read_text().splitlines()) <= 100


def test_the_manifest_suits_the_platform():
    (tagline,) = re.findall(r'(?m)^tagline = "(.+)"$', (package.ROOT / "blender_manifest.toml").read_text())
    assert len(tagline) <= 64
    assert not tagline.endswith(".")


@pytest.mark.parametrize("page", ["README.md", "docs"])
def test_links_lead_somewhere(page):
    place = package.ROOT / page
    for path in [place] if place.is_file() else sorted(place.glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert link == RELEASES or (path.parent / link).exists(), f"{path.name}: {link}"


@pytest.mark.parametrize("page", PAGES)
def test_python_runs(page):
    """All samples of a page, one after the other: the leg gets IK, and an arm with Blender's own is converted."""
    ob = rigs.biped()
    ob.name = "Rig"
    rigs.empty("Foot", (0.1, -0.1, 0.25))
    bpy.ops.object.mode_set(mode="EDIT")
    control = ob.data.edit_bones.new("foot_ik.L")
    control.head, control.tail = (0.1, -0.1, 0.25), (0.1, -0.3, 0.25)
    bpy.ops.object.mode_set(mode="POSE")
    ik = ob.pose.bones["forearm.L"].constraints.new("IK")
    ik.target, ik.chain_count = rigs.empty("Hand", (0.5, -0.2, 1.4)), 2
    for bone in ob.pose.bones:
        rigs.select(bone, bone.name == "forearm.L")
    samples = re.findall(r"(?s)```python\n(.+?)```", (package.ROOT / page).read_text())
    assert samples
    names = {}
    for sample in samples:
        exec(compile(sample, page, "exec"), names)  # noqa: S102 - it is ours
    bpy.context.view_layer.update()
    made = {"shin.L"} | ({"forearm.L"} if any("convert" in sample for sample in samples) else set())
    assert {bone.name for bone in ob.pose.bones if bone.planar_ik.enabled} == made
    assert {ob.pose.bones[name].planar_ik.reach for name in made} == {"REACHED"}
