"""What README and guides show runs as it stands there, each line of it; what they name is there."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from mathutils import Vector

from scripts import arguments, guide, installed, package, tasks
from tests.blender import pages, rigs
from tests.blender.pages import kind_of

ROOT = package.ROOT

AT_A_WINDOW = ("animator", "capture", "machines", "limits")
WINDOW = ROOT / "tests" / "window"

STUB = ROOT / "addon" / "planar_ik.pyi"

RELEASES = "../../releases/latest"
"""As hosts of repositories resolve it, from the page of a file."""


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


def test_the_guides_are_short():
    """All but the table that the operators make."""
    texts = [(ROOT / "README.md").read_text(), *(page.read_text() for page in (ROOT / "docs").glob("*.md"))]
    words = [text.partition(arguments.HEAD)[0].split() for text in texts]
    assert sum(map(len, words)) <= 9500


def test_the_manifest_suits_the_platform():
    (tagline,) = re.findall(r'(?m)^tagline = "(.+)"$', (ROOT / "blender_manifest.toml").read_text())
    assert len(tagline) <= 64
    assert not tagline.endswith(".")


def heads_of(page):
    """The names by which links reach the headings of a page."""
    return {guide.name_of(head) for head in re.findall(r"(?m)^#+ (.+)$", page.read_text())}


def test_links_lead_somewhere():
    for page in pages.PAGES:
        for link, head in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text()):
            place = page.parent / link if link else page
            assert link == RELEASES or place.exists(), f"{page.name}: {link}"
            assert not head or head in heads_of(place), f"{page.name}: {link}#{head}"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The guides as they go with the extension: the text of each page, and all names in the folder."""
    folder = tmp_path_factory.mktemp("zip") / "guide"
    guide.write(folder)
    return {path.name: path.read_text() if path.suffix == ".html" else "" for path in folder.iterdir()}


def test_the_guide_in_the_zip_leads_nowhere_else(written):
    """No link but to what goes along and to the web; nothing is left of Markdown's own marks."""
    for name, text in written.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            page, _, head = link.partition("#")
            assert link.startswith(("https://", "http://", "#")) or page in written, link
            assert not head or f'id="{head}"' in written[page or name], link
        words = re.sub(r"(?s)<(pre|code|style)>.*?</\1>", "", text)
        assert not re.findall(r".*(?:\]\(|\*\*|`|<p>[|#-]|^\|).*", words), name


def test_help_opens_a_page_that_is_there(addon, written):
    """On each operator and on our settings; that of sliders, the window's test holds."""
    folder = addon("ui.preferences").FOLDER
    asked = [f"bpy.ops.pose.{name}" for name in dir(bpy.ops.pose) if name.startswith("planar_ik")]
    asked += ["bpy.types.PlanarIKScene.live"]
    assert len(asked) > 15
    for name in asked:
        address = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(name, verbose=False)
        page, _, head = address.removeprefix(folder).partition("#")
        assert f'id="{head}"' in written[page] or not head, name
    assert addon("ui.preferences").GUIDE.removeprefix(folder) in written
    page, _, head = addon("ui.preferences").ON_PROPERTIES[1].partition("#")
    assert f'id="{head}"' in written[page]


def test_a_clone_of_the_web_says_where():
    for remote in ("https://example.org/us/ik.git", "git@example.org:us/ik.git", "https://me:word@example.org/us/ik/"):
        assert package.address_of(remote) == "https://example.org/us/ik"
    assert not any(map(package.address_of, ("", "/work/main", "../ik.git", "file:///srv/ik.git")))


def test_a_test_looks_after_every_line():
    tests = "".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    shown = [block for block in pages.blocks() if block.language != "python"]
    assert {block.language for block in shown} == {""}
    lost = [f"{block.page.name}:{block.line} {line}" for block in shown for line in block.lines if not kind_of(line)]
    assert not lost
    starts = ("make ", "blender ", "python ", "planar_ik ", "pip ", "openjd ", ".ci/", "PLANAR_IK_", "BLENDER=")
    assert not [span for _, span in pages.spans() if span.startswith(starts) and not kind_of(span)]
    assert not [each for each in pages.KINDS if not pages.lines(each) or f'lines("{each}")' not in tests]


PYTHON = [block for block in pages.blocks() if block.language == "python"]


@pytest.mark.parametrize("page", sorted({block.page for block in PYTHON}), ids=lambda page: page.name)
def test_python_runs(page, capsys, tmp_path):
    """All samples of a page, one after the other: the leg gets IK, and an arm with Blender's own is converted."""
    ob = rigs.biped()
    ob.name = "Rig"
    rigs.empty("Foot", (0.1, -0.1, 0.25))
    bpy.ops.object.mode_set(mode="EDIT")
    for side, x in ((".L", 0.1), (".R", -0.1)):
        control = ob.data.edit_bones.new(f"foot_ik{side}")
        control.head, control.tail = (x, -0.1, 0.25), (x, -0.3, 0.25)
    bpy.ops.object.mode_set(mode="POSE")
    ik = ob.pose.bones["forearm.L"].constraints.new("IK")
    ik.target, ik.chain_count = rigs.empty("Hand", (0.5, -0.2, 1.4)), 2
    for bone in ob.pose.bones:
        rigs.select(bone, bone.name == "forearm.L")
    names, samples = {}, [block.text for block in PYTHON if block.page == page]
    for sample in samples:
        exec(compile(sample, page.name, "exec"), names)  # noqa: S102 - it is ours
    bpy.context.view_layer.update()
    reach, residual, *_ = capsys.readouterr().out.split()
    assert (reach, float(residual) < 1e-6) == ("REACHED", True)
    made = {"shin.L"} | {bone for word, bone in (("convert", "forearm.L"), ("_add(", "shin.R")) if word in str(samples)}
    assert {bone.name for bone in ob.pose.bones if bone.planar_ik.enabled} == made
    assert {ob.pose.bones[name].planar_ik.reach for name in made} == {"REACHED"}
    for line in (span for _, span in pages.spans() if "keyframe_insert" in span):
        assert eval(line, {"shin": ob.pose.bones["shin.L"]})  # noqa: S307 - it is ours
    works_without_the_extension(tmp_path / "made.blend")


def works_without_the_extension(path):
    """What was made is solved where the extension is off: the foot goes to where its target is moved."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    installed.disable()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path))
        ob = bpy.data.objects["Rig"]
        target = bpy.data.objects["Foot"]
        if ob.pose.bones["shin.L"].constraints["Planar IK"].subtarget:
            target = ob.pose.bones["foot_ik.L"]
        for place in ((0.1, -0.3, 0.4), (0.2, 0.1, 0.3)):
            rigs.put(target, Vector(place))
            assert (rigs.place(ob, "foot.L") - Vector(place)).length < 1e-5
    finally:
        installed.enable()


INSTALL = """\
import os, shlex, sys
import bpy
import bl_pkg
code = bl_pkg.cli_extension(sys.argv[1:])  # what Blender's program calls for --command extension
print([*bpy.context.preferences.addons.keys()], flush=True)
os._exit(code)  # bpy now and then waits for ever in a destructor
"""


def test_the_zip_is_installed(tmp_path):
    """In a Blender of its own, by the words after ``blender --command extension``."""
    path = Path(os.environ.get(installed.ZIP) or package.build(Path(sys.executable)))
    for line in pages.lines("install"):
        *words, name = shlex.split(line)[3:]
        assert name == path.name
        user = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path)}
        call = [sys.executable, "-c", INSTALL, *words, str(path)]
        done = subprocess.run(call, check=False, env=user, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
        assert installed.MODULE in done.stdout
        assert (tmp_path / "extensions" / "user_default" / "planar_ik" / "addon").is_dir()


@pytest.mark.parametrize("line", pages.lines("make"))
def test_make_knows_a_target(line):
    words = shlex.split(line)
    words = words[words.index("make") :]
    done = subprocess.run(["make", "-n", *words[1:]], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    target, arguments = words[1], [word[5:] for word in words if word.startswith("ARGS=")]
    if target != "help":
        assert f" -m scripts.tasks {target}" in done.stdout
        assert target in {*tasks.TASKS, *tasks.SCRIPTS}
    if target == "bench":
        parts = re.findall(r"(?m)^def bench_(\w+)", (ROOT / "scripts" / "bench.py").read_text())
        assert {part for each in arguments for part in each.split()} <= {*parts}


def test_what_runs_by_itself_is_there():
    """What CI and the release call: targets of make, and the files by their names."""
    called = {".ci/run": r"(?m)^step (\w+)", ".github/workflows/release.yml": r"(?m)\bmake (\w+)"}
    for name, expression in called.items():
        targets = set(re.findall(expression, (ROOT / name).read_text()))
        assert {"zip", "matrix"} <= targets <= {*tasks.TASKS, *tasks.SCRIPTS}
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert (ROOT / re.search(r"scripts/\w+\.py", workflow)[0]).is_file()
    for version, python in re.findall(r'blender: "([\d.]+)", python: "([\d.]+)"', workflow):
        assert tasks.BLENDERS[version] == python
    notes = (ROOT / "CHANGELOG.md").read_text()
    (version,) = re.findall(r'(?m)^version = "(.+)"$', (ROOT / "blender_manifest.toml").read_text())
    assert f"\n## {version} " in notes


def test_pytest_and_ci_are_named_rightly():
    for line in pages.lines("pytest"):
        python, *words = line.split()[1:]
        assert re.fullmatch(r"\.venvs/blender-([\d.]+)/bin/python", python)[1] in tasks.BLENDERS
        assert (ROOT / words[words.index("pytest") + 1]).is_dir()
    for line in pages.lines("ci"):
        (script,) = (word for word in line.split() if "=" not in word)
        assert os.access(ROOT / script, os.X_OK)
        assert subprocess.run(["bash", "-n", script], check=False, cwd=ROOT).returncode == 0


def test_the_tree_is_an_extension_of_the_name_that_is_linked():
    for line in pages.lines("link"):
        assert line.rpartition("/extensions/")[2] == installed.MODULE.removeprefix("bl_ext.").replace(".", "/")
    assert (ROOT / "__init__.py").is_file()


def test_scripts_and_pins_are_named_rightly():
    for line in pages.lines("script"):
        assert (ROOT / "scripts" / Path(line.split()[-1]).name).is_file()
    for line in pages.lines("pip"):
        assert f'"{line.split()[-1]}"' in (ROOT / "pyproject.toml").read_text()


def test_the_map_names_what_is_there():
    for line in pages.lines("room"):
        assert (ROOT / line.split()[0]).exists(), line
    rooms = {line.split()[0].strip("/") for line in pages.lines("room")}
    assert {f"addon/{path.name}" for path in (ROOT / "addon").iterdir() if path.is_dir()} - rooms <= {
        "addon/__pycache__"
    }
    files = [span for page, span in pages.spans() if page.name == "code.md" and "/" in span]
    assert not [span for span in files if not (ROOT / "addon" / span).exists()]
    named = [(page, span) for page in pages.PAGES for span in re.findall(r"\bscripts/[\w/]+\.\w+", page.read_text())]
    assert not [(page.name, span) for page, span in named if not (ROOT / span).exists()]


def test_each_task_of_a_release_is_played_in_the_window():
    by_hand = re.findall(r"(?m)^\d+\. .+?((?: `test_\w+`)+)$", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(by_hand) == 30
    played = {
        name for path in WINDOW.glob("test_*.py") for name in re.findall(r"(?m)^def (test_\w+)", path.read_text())
    }
    assert {name for names in by_hand for name in re.findall(r"`(\w+)`", names)} <= played


def test_what_people_press_is_pressed_in_the_window():
    """Each word in italics that a button or an entry says, in the pages for people at a window."""
    pressed = "".join(path.read_text() for path in WINDOW.glob("*.py")).lower()
    interface = {path.name: path.read_text() for path in (ROOT / "addon" / "ui").rglob("*.py")}
    buttons = {*re.findall(r'operator\([^\n]*text="([^"{]+)"', "".join(interface.values()))}
    names = [text for name, text in interface.items() if name not in ("panel.py", "preferences.py")]
    buttons |= {*re.findall(r'bl_label = "(.+)"', "".join(names)), "Free", "Hinge", "Slide", "Rig", "Live", "FK Bones"}
    for path in (ROOT / "addon" / "limb" / "features").glob("*.py"):
        buttons |= {*re.findall(r'(?m)^    label="(.+)",$', path.read_text())}
    texts = [(ROOT / page).read_text() for page in ("README.md", *(f"docs/{name}.md" for name in AT_A_WINDOW))]
    spans = [span for text in texts for span in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", text)]
    named = {" ".join(word.split()) for span in spans for word in span.split(" ▸ ")} & buttons
    assert len(named) > 20
    assert {word for word in named if f'"{word.lower().strip("…")}' not in pressed} == set()


def test_what_the_pages_count():
    """Beside the two controls: what a limb of a crowd is made of, and how many pivots a foot has, which are hidden."""
    ob = rigs.biped()

    def counted():
        drivers = ob.animation_data.drivers if ob.animation_data else ()
        return len(ob.pose.bones), len(drivers), sum(len(bone.constraints) for bone in ob.pose.bones)

    before = counted()
    bpy.ops.pose.planar_ik_add(limbs="shin.L", foot_follows=False)
    bones, drivers, constraints = (now - then for now, then in zip(counted(), before, strict=True))
    assert (bones - 2, drivers, constraints) == (4, 4, 10)
    bpy.ops.pose.planar_ik_add(limbs="shin.R", foot_roll=True)
    pivots = ob.data.collections_all["IK Foot Pivots"]
    assert not pivots.is_visible
    assert len([bone for bone in pivots.bones if "pivot" in bone.name]) == 5


def test_the_deadline_bundle_sets_what_the_template_has():
    template = (ROOT / "scripts" / "farm" / "bake.yaml").read_text()
    parameters = dict(re.findall(r"(?m)^  - \{name: (\w+), (.+)\}$", template))
    assert [f"default: {line}" in parameters["Command"] for line in pages.lines("program")] == [True]
    (line,) = pages.lines("deadline")
    given = {word.partition("=")[0] for word in re.findall(r"-p (\S+)", line)}
    assert given <= {*parameters}
    assert not [name for name, words in parameters.items() if "default:" not in words and name not in given]


def test_scripts_find_what_the_guide_names(addon):
    """The names in the guide's tables and lists are those of a limb, with their ranges, and of operators."""
    page = (ROOT / "docs" / "scripting.md").read_text()
    table = page[page.index("| name | kind") + 1 : page.index("`enabled`, `target` and")]
    rows = {name: row for row in table.split("\n|") for name in re.findall(r"`(\w+)`", row.split("|")[0])}
    limb = type(rigs.biped().pose.bones["shin.L"].planar_ik)
    public = {name for name in dir(limb) if isinstance(getattr(limb, name), property)}
    assert {*rows} == public - {"status"}
    (stub,) = (one for one in ast.parse(STUB.read_text()).body if isinstance(one, ast.ClassDef))
    typed = {getattr(one, "name", "") or one.target.id for one in stub.body if not isinstance(one, ast.Expr)}
    assert typed - {"bone", "__init__"} == public
    settings = addon("limb.settings")
    limits = {slider.name: slider.limits for slider in settings.SLIDERS if slider.limits}
    allowed = settings.ALLOWED | {name: pair for name, pair in limits.items() if name in rows}
    for name, values in allowed.items():
        if isinstance(values[0], str):
            assert all(f"`{value}`" in rows[name] for value in values), name
        else:
            assert "{} to {}".format(*(f"{value:g}".replace("3.14159", "π") for value in values)) in rows[name], name
    called = set(re.findall(r"\bplanar_ik_(\w+)\(", page))
    assert not [name for name in called if not hasattr(bpy.types, f"POSE_OT_planar_ik_{name}")]


def test_the_guide_lists_all_arguments_of_operators():
    """``PLANAR_IK_SOURCE=1 .venvs/blender-4.5/bin/python -m scripts.arguments`` lists them anew."""
    text = arguments.PAGE.read_text(encoding="utf-8")
    assert arguments.page(text) == text
    assert len(arguments.table().splitlines()) > 80
