"""Blender's data by the types that it has, where the stubs can't know them, and the paths to bones; sentences for
people, each a template and its values, so that it can be translated and never has to be parsed; and what is called when
something happens in Blender."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import bpy
from bpy.app import translations
from bpy.types import Context, Depsgraph, Object, PoseBone, Scene, ViewLayer, bpy_prop_collection
from mathutils import Matrix

Datablock = Any
"""A datablock of Blender's that may be animated: the stubs know no animation data of an ID."""

if TYPE_CHECKING:
    from bpy.types import Armature, Pose

    class ArmatureObject(Object):
        """An object of an armature, and so with a pose."""

        data: Armature
        pose: Pose
else:
    ArmatureObject = Object

_BONE_PATH = re.compile(r'(?:pose\.)?bones\["([^"\\]*(?:\\.[^"\\]*)*)"\]\.?(.*)', re.DOTALL)


BACKUP = ".backup of planar_ik"
"""What copies are called that a task keeps in case it fails: see `transaction`."""


def all_objects() -> Iterator[Object]:
    """The objects of the file, without copies that a transaction keeps."""
    return (ob for ob in bpy.data.objects if not ob.name.startswith(BACKUP))


def all_actions() -> Iterator[Any]:
    """The actions of the file, without copies that a transaction keeps."""
    return (action for action in bpy.data.actions if not action.name.startswith(BACKUP))


def is_armature(ob: Object | None) -> TypeGuard[ArmatureObject]:
    """Whether an object is an armature's, with a pose; a new one has none until Blender first evaluates it."""
    return ob is not None and ob.type == "ARMATURE" and ob.pose is not None


def is_evaluated(ob: Object, depsgraph: Depsgraph) -> bool:
    """Whether a depsgraph holds an object, shown or not. Only then may its pose's bones be asked for those of their
    armature: of other objects, Blender may not have renewed these since an undo, and crashes."""
    evaluated: Any = ob.evaluated_get(depsgraph)
    return bool(evaluated.is_evaluated)


def can_edit_bones(ob: ArmatureObject) -> bool:
    """Whether bones can be made, changed and removed in Edit Mode: not of a rig that is linked, overridden or not."""
    return not (ob.library or ob.override_library or ob.data.library)


def bones_of(ob: Object) -> bpy_prop_collection[PoseBone]:
    """The pose bones of an object that is known to be an armature's."""
    return cast("ArmatureObject", ob).pose.bones


def has_bone(ob: Object | None, name: str) -> bool:
    """Whether an object is an armature's and has a bone of this name."""
    return is_armature(ob) and name in ob.pose.bones


def children_of(bone: PoseBone) -> list[PoseBone]:
    """The bones that hang on a bone. `PoseBone.children` goes through all bones of the rig to find them.

    While the armature is edited, its bones need not have the names of the pose's.
    """
    bones = bones_of(bone.id_data)
    return [bones[child.name] for child in bone.bone.children if child.name in bones]


def is_hidden(bone: PoseBone) -> bool:
    """Whether a bone is hidden while its rig is posed, by itself or with all of its collections."""
    owner: Any = bone if hasattr(bone, "hide") else bone.bone  # the former from 5.0 on
    collections: Any = bone.bone.collections
    return bool(owner.hide) or (
        len(collections) > 0 and not any(collection.is_visible_effectively for collection in collections)
    )


def tag_rig(bone: PoseBone) -> None:
    """Have Blender evaluate the rig of a bone anew. The tag of the object alone costs a fifth less, but has
    simulations that hang on the rig lose what they have cached."""
    bone.id_data.update_tag(refresh={"DATA"})


def own_matrix(bone: PoseBone) -> Matrix:
    """The local matrix that a bone's channels would have to make for it to stand as it is evaluated."""
    rest, above = bone.bone.matrix_local, bone.parent
    parent = {"parent_matrix": above.matrix, "parent_matrix_local": above.bone.matrix_local} if above else {}
    return bone.bone.convert_local_to_pose(bone.matrix, rest, **parent, invert=True)


def scene_of(context: Context) -> Scene:
    """The scene of a context; only Blender itself runs without."""
    return cast("Scene", context.scene)


def view_layer_of(context: Context) -> ViewLayer:
    """The view layer of a context; only Blender itself runs without."""
    return cast("ViewLayer", context.view_layer)


def path_to_bone(name: str) -> str:
    """The data path of a pose bone from its object, as F-curves and drivers write it."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def path_to_custom(bone: str, name: str) -> str:
    """The data path of a custom property of a pose bone from its object."""
    return f'{path_to_bone(bone)}["{bpy.utils.escape_identifier(name)}"]'


@lru_cache(10_000)
def split_path(path: str) -> tuple[str, str]:
    """A data path from an object or armature, split into the name of a bone and the path from there. Of one that
    leads through no bone, the name is ""."""
    named = _BONE_PATH.match(path)
    return (bpy.utils.unescape_identifier(named[1]), named[2]) if named else ("", path)


listeners: list[Callable[[Any], None]] = []
"""Who is told: transactions that are open."""


def announce(*blocks: Any) -> None:
    """Tell the open transaction that objects, actions or scenes will be changed, so that it copies them first. None
    is nothing."""
    for block in blocks if listeners else ():
        for remember in listeners if block is not None else ():
            remember(block)


def announce_keys(owner: Datablock) -> None:
    """Tell the open transaction that keys of an object in its current action will be changed: see `announce`."""
    data = owner.animation_data
    announce(owner, data.action if data else None)


ENDLESS = 1e6
"""A limit of a number from which on it is none."""


def allowed_range(of: Any) -> tuple[float, float]:
    """From where to where the number of a property may be. What is beyond soft limits is refused, as Blender keeps
    to hard ones without a word; above a soft limit, only where there is no hard one."""
    low = of.soft_min if of.hard_min < -ENDLESS else of.hard_min
    return low, of.soft_max if of.hard_max > ENDLESS else of.hard_max


_translations: Any = translations  # whose functions return nothing, say the stubs


class Message:
    """A sentence, or a part of one: ``values``, which may be messages too, fill the ``{names}`` of its ``template``."""

    __slots__ = ("template", "values")

    def __init__(self, template: str, **values: Any) -> None:
        self.template = template
        self.values = values

    def __str__(self) -> str:
        return self.template.format(**self.values)

    @property
    def translated(self) -> str:
        """The sentence in the language of the interface."""
        return translated_text(self.template, **self.values)


class Refused(RuntimeError):
    """What was asked for can't be done: its ``message`` says what to do instead.

    ``repair`` names the repair that would help (see ``addon.ui.operators.repairing``), if one does.
    """

    def __init__(self, template: str, repair: str = "", **values: Any) -> None:
        super().__init__(template)
        self.message = Message(template, **values)
        self.repair = repair

    def __str__(self) -> str:
        return str(self.message)


def translated_text(template: str, **values: Any) -> str:
    """A sentence in the language of the interface."""
    words = {name: value.translated if isinstance(value, Message) else value for name, value in values.items()}
    sentence: str = _translations.pgettext_rpt(template).format(**words)
    return sentence


Handlers = Sequence[tuple[str, Callable[..., None]]]
"""Functions, each with the name of the list in `bpy.app.handlers` that it belongs to."""


def add_handlers(handlers: Handlers) -> None:
    """Add handlers, pairs of the name of a list of `bpy.app.handlers` and a function; each is there once, however often
    this is called."""
    for name, handler in handlers:
        called = getattr(bpy.app.handlers, name)
        if handler not in called:
            called.append(handler)


def remove_handlers(handlers: Handlers) -> None:
    """Remove what `add_handlers` added, in reverse order."""
    for name, handler in reversed(handlers):
        called = getattr(bpy.app.handlers, name)
        if handler in called:
            called.remove(handler)


def run_or_undo(steps: Iterable[tuple[Callable[[], None], Callable[[], None]]]) -> None:
    """Run steps, each given with the one that undoes it; if one fails, undo those before it."""
    done: list[Callable[[], None]] = []
    try:
        for do, restore in steps:
            do()
            done.append(restore)
    except BaseException:
        for restore in reversed(done):
            restore()
        raise
