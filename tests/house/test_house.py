"""How the house is built: which rooms import which, what is one screen, and that a public name means one thing."""

from __future__ import annotations

import ast
from functools import cache

from scripts import package

ADDON = package.ROOT / "addon"
FILES = sorted(ADDON.rglob("*.py"))

BELOW = {
    "solver": set(),
    "blender": {"solver"},
    "limb": {"solver", "blender"},
    "finding": {"solver", "blender", "limb"},
    "rigging": {"solver", "blender", "limb", "finding"},
    "live": {"solver", "blender", "limb"},
    "motion": {"solver", "blender", "limb", "finding", "rigging", "live"},
    "feet": {"solver", "blender", "limb", "finding", "rigging", "motion"},
    "tasks": {"solver", "blender", "limb", "finding", "rigging", "live", "motion", "feet"},
    "planar_ik": {"blender", "limb", "tasks"},
    "ui": {"blender", "tasks"},
    "cli": {"blender", "tasks"},
}
"""What the files of each room may import."""


def module_of(path):
    parts = path.relative_to(ADDON.parent).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


MODULES = {module_of(path): path for path in FILES}


@cache
def nodes_of(path):
    """All of the syntax of a file."""
    return [*ast.walk(ast.parse(path.read_text()))]


def places_of(kind, but, text_of):
    """The files and texts of syntax of a kind that has a text, but in files of one name."""
    nodes = [(path, node) for path in FILES if path.name != but for node in nodes_of(path) if isinstance(node, kind)]
    return [(f"{path.relative_to(ADDON)}: {text}", text) for path, node in nodes if (text := text_of(node))]


def imports_of(path):
    """The modules of ours that a file imports, also in its functions or for type checkers."""
    here = module_of(path) if path.name == "__init__.py" else module_of(path)[:-1]
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + tuple((node.module or "").split(".") if node.module else ())
            for each in node.names:
                yield (*base, each.name) if (*base, each.name) in MODULES else base


def test_rooms_import_only_what_is_below_them():
    wrong = [
        f"{path.relative_to(ADDON)} imports {'.'.join(found)}"
        for path in FILES
        for found in imports_of(path)
        if len(module_of(path)) > 1 and module_of(path)[1] != found[1] and found[1] not in BELOW[module_of(path)[1]]
    ]
    assert not wrong


def test_no_circle_of_files():
    graph = {name: {each for each in imports_of(path) if each != name} for name, path in MODULES.items()}
    while leaves := [name for name, needs in graph.items() if not needs & graph.keys()]:
        for name in leaves:
            del graph[name]
    assert not graph


def test_nobody_goes_through_the_facade():
    """``pose_bone.planar_ik`` is for scripts: a file that used it would hang on what hangs on itself."""
    found = places_of(ast.Attribute, "planar_ik.py", lambda node: node.attr == "planar_ik" and ast.unparse(node.value))
    assert not [place for place, owner in found if "scene" not in owner.lower()]


def test_nobody_goes_through_all_objects_or_actions():
    """Among them are copies that a task keeps in case it fails: `all_objects` and `all_actions` give the others."""
    found = places_of(ast.For | ast.comprehension, "types.py", lambda node: ast.unparse(node.iter))
    assert not [place for place, among in found if among in ("bpy.data.objects", "bpy.data.actions")]


def test_the_solver_needs_no_blender():
    for path in (ADDON / "solver").rglob("*.py"):
        names = [node for node in nodes_of(path) if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = {name.name for each in names for name in each.names} | {getattr(each, "module", "") for each in names}
        assert not modules & {"bpy", "mathutils", "bmesh", "gpu", "blf"}


OVER_TIME = ("motion", "feet", "tasks")


def test_a_function_is_one_screen():
    """What works over time has at most 45 lines and seven parameters."""
    functions = [(path, node) for path in FILES for node in nodes_of(path) if isinstance(node, ast.FunctionDef)]
    assert not [(path, node.name) for path, node in functions if node.end_lineno - node.lineno >= 60]
    of_time = [(path, node) for path, node in functions if path.parent.name in OVER_TIME]
    assert not [(path, node.name) for path, node in of_time if node.end_lineno - node.lineno >= 45]
    given = [
        (path, node.name, [one for one in ast.walk(node.args) if isinstance(one, ast.arg) and one.arg != "self"])
        for path, node in of_time
    ]
    assert not [(path, name) for path, name, parameters in given if len(parameters) > 7]


BLENDERS_OWN = {"Action", "Armature", "Bone", "Constraint", "Driver", "Key", "Modifier", "Object", "Scene", "View"}


def test_public_names_mean_one_thing():
    """No public function or class has the name of another one, nor of a type of Blender's."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in nodes_of(path)[0].body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                places.setdefault(node.name, []).append(str(path.relative_to(ADDON)))
    del places["register"], places["unregister"]
    assert not {name: files for name, files in places.items() if len(files) > 1 or name in BLENDERS_OWN}


def is_data(node):
    """Whether a class is plain data."""
    words = [ast.unparse(each) for each in (*node.bases, *node.decorator_list)]
    return any("NamedTuple" in word or "dataclass" in word for word in words)


def test_data_of_more_than_five_fields_is_built_by_names():
    """But the rows of a table, which stand below each other."""
    nodes = [(path, node) for path in FILES for node in nodes_of(path)]
    long = {
        node.name
        for _, node in nodes
        if isinstance(node, ast.ClassDef)
        and is_data(node)
        and sum(isinstance(field, ast.AnnAssign) for field in node.body) > 5
    }
    wrong = [
        f"{path.relative_to(package.ROOT)}:{node.lineno} {node.func.id}"
        for path, node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in long - {"Slider"}
        if len(node.args) > 5 or any(isinstance(argument, ast.Starred) for argument in node.args)
    ]
    assert len(long) > 10
    assert not wrong
