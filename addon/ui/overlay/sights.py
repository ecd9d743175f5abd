"""Which chains the overlay shows, and what it must know of each, whatever the chain runs on.

What was found is kept until the selection, the chain's settings or the file's structure change: a chain that only moves
is not looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import cos
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, PoseBone

from ...live import own_pose_of
from ...live.plan import plan
from ...rig.anatomy import Unposable, anatomy
from ...rig.chain_settings import holder_of
from ...rig.data.access import (
    ArmatureObject,
    bones_of,
    chain_settings,
    is_armature,
    key_of,
    runs_on_rig,
    split_path,
    upper_of,
)
from ...rig.data.animation import drivers_of
from ...rig.data.sides import swing_side
from ...rig.settings import ON_RIG
from ...rig.solver_settings import angles_of, features_of, solver_settings
from ...rig.targets import Target, followed
from ...rig.tasks.limbs import is_shown
from ...solver.chain import Features, Own, Uninherited
from ...solver.limb import Limb
from ...solver.triangle import Settings
from ..finding import chains_in_view, chains_meant

HAS_FLAGS_IN_POSE = bpy.app.version >= (5, 0, 0)
"""Before, a bone was selected and hidden or not in all poses of its armature."""

CHANNELS = ("location", "rotation", "scale")
"""What the paths of a bone's own channels begin with."""


class Shape(NamedTuple):
    """What a chain is posed by, as the solver takes it."""

    limb: Limb
    uninherited: Uninherited | None
    settings: Settings
    features: Features


@dataclass(eq=False, slots=True)
class Sight:
    """A chain to be drawn, and the places of its bones among those of its rig.

    ``source`` is the live chain, None on the rig; ``state`` is what posed that when it was last looked at. Without
    ``shape`` the chain can't be posed.
    """

    object: ArmatureObject
    lower: str
    source: Any
    bones: tuple[int, int]
    state: Any = None
    target: Target | None = None
    pole: Target | None = None
    shape: Shape | None = None

    @property
    def is_stretched(self) -> bool:
        """Whether its bones' sizes change while it moves."""
        return self.shape is not None and self.shape.settings.stretch > 0.0

    def own(self, depsgraph: Depsgraph) -> Own:
        """The animator's own rotations of both bones."""
        posed = bones_of(self.object if self.source else self.object.evaluated_get(depsgraph))[self.lower]
        if self.source and chain_settings(posed).is_posed:
            return own_pose_of(posed)[0]
        return Own(_turn(upper_of(posed)), _turn(posed))

    def look(self, depsgraph: Depsgraph) -> bool:
        """Take notice of how the chain is set now, and say whether that is otherwise than it was."""
        before = (self.target, self.pole, self.shape)
        if self.source is not None:
            self.state, seen = self.source.posing, _live(self.source)
        else:
            seen = _on_rig(self, depsgraph)
        self.target, self.pole, self.shape = seen
        return seen != before


Seen = tuple[Target | None, Target | None, Shape | None]
NOTHING: Seen = (None, None, None)


class Sights:
    """The chains that are shown, and the bones of all others in view that are tinted."""

    def __init__(self) -> None:
        self._view: Any = None
        self._at: Any = None
        """The mode, of whose change no event tells, and of which scene it is."""
        self.is_edited = True
        """Whether anything else may have happened since the last look than that things moved."""
        self.edits = 0
        """How often that was so."""
        self._found: list[Sight] = []
        self._live: list[Sight] = []
        self._on_rig: list[_OnRig] = []
        self._visible: list[bool] = []
        self._shown: tuple[Sight, ...] = ()
        self.looks = 0
        """How often the settings, or the sizes of bones, of any chain were found to be others."""
        self.tinted: dict[ArmatureObject, list[tuple[int, int]]] = {}
        """Upper and lower bones of the chains in Pose Mode that are not shown, by their places."""

    def forget(self) -> None:
        """Let go of everything in the file."""
        self.__init__()  # type: ignore[misc]

    def look(self, context: Context, depsgraph: Depsgraph) -> tuple[Sight, ...]:
        """The chains that are selected, or whose target or pole is, and can be posed; the very same ones for as long as
        these do nothing but move."""
        at = (context.mode, depsgraph)
        is_edited, self.is_edited, self._at = self.is_edited or at != self._at, False, at
        is_new = False
        if is_edited:
            view = _view_of(context)
            is_new, self._view = view != self._view, view
        if is_new:
            self._find(context)
        looked = [rig for rig in self._on_rig if is_edited or rig.is_driven]
        self.edits += bool(is_edited or looked)
        others = [each for each in self._live if each.state is not each.source.posing]
        others += [each for rig in looked for each in rig.changed(depsgraph)]
        self.looks += bool(others)
        changed = [each.look(depsgraph) for each in others]
        visible = [ob.visible_get() for ob in {sight.object: None for sight in self._found}]
        if is_new or any(changed) or visible != self._visible:
            self._visible = visible
            self._shown = tuple(sight for sight in self._found if sight.shape and sight.object.visible_get())
        return self._shown

    def _find(self, context: Context) -> None:
        shown = [lower for lower in chains_meant(context) if lower.parent]
        self._found = [_sight(lower) for lower in sorted(shown, key=lambda lower: lower.id_data.name)]
        self._live = [sight for sight in self._found if sight.source is not None]
        on_rig = [sight for sight in self._found if sight.source is None]
        self._on_rig = [_OnRig(ob, [*chains]) for ob, chains in groupby(on_rig, attrgetter("object"))]
        self.tinted = {}
        for lower in chains_in_view(context):
            ob: ArmatureObject = lower.id_data
            is_posed = ob.mode == "POSE" and ob.visible_get() and chain_settings(lower).enabled
            if is_posed and lower.parent and lower not in shown and is_shown(lower) and is_shown(lower.parent):
                self.tinted.setdefault(ob, []).append(_places(lower))


class _OnRig:
    """The chains of one object that run on the rig, of which nobody tells what is set: custom properties, and the
    channels that a limb's shape is made by."""

    def __init__(self, ob: ArmatureObject, sights: list[Sight]) -> None:
        self._object = ob
        self._sights = sights
        holders = [holder_of(bones_of(ob)[sight.lower]) for sight in sights]
        names = [[*filter(_is_setting, holder.keys())] for holder in holders]
        self._holders = [
            (sight, holder.id_data, holder.name, itemgetter(*of))
            for sight, holder, of in zip(sights, holders, names, strict=True) if of
        ]  # fmt: skip
        self._hosts = {host: None for _, host, _, _ in self._holders}
        self._bones = np.array([sight.bones for sight in sights])
        is_loose = any(not bones_of(ob)[sight.lower].bone.use_connect for sight in sights)
        self._channels = ("scale", "location") if is_loose else ("scale",)
        self._state: tuple[bytes, list[Any]] | None = None
        self.is_driven = self._has_drivers()
        """Whether what moves may set them otherwise, by a driver."""

    def _has_drivers(self) -> bool:
        bones = bones_of(self._object)
        own = {name for sight in self._sights for name in (sight.lower, upper_of(bones[sight.lower]).name)}
        held = {name for _, _, name, _ in self._holders}
        return any(
            (name in own and path.startswith(CHANNELS)) or (name in held and path.startswith(f'["{ON_RIG}'))
            for host in (self._object, *self._hosts)
            for name, path in (split_path(curve.data_path) for curve in drivers_of(host))
        )

    def changed(self, depsgraph: Depsgraph) -> list[Sight]:
        """Those that are set otherwise than they were. Blender writes what it evaluates to the originals as well, in
        which it is found more quickly."""
        bones = bones_of(self._object.evaluated_get(depsgraph))
        numbers = np.empty((len(self._channels), len(bones), 3), np.float32)
        for channel, room in zip(self._channels, numbers, strict=True):
            bones.foreach_get(channel, room.reshape(-1))
        hosts = {host: bones_of(host) for host in self._hosts}
        values = [read(hosts[host][name]) for _, host, name, read in self._holders]
        channels = numbers[:, self._bones].tobytes()
        before, self._state = self._state, (channels, values)
        if before is None or channels != before[0]:
            return self._sights
        if values == before[1]:
            return []
        pairs = zip(self._holders, values, before[1], strict=True)
        return [sight for (sight, *_), now, then in pairs if now != then]


def _is_setting(name: str) -> bool:
    """Whether a custom property is a setting of a chain on the rig."""
    return name.startswith(ON_RIG)


def _view_of(context: Any) -> Any:
    """What says which chains are meant, and is quick to read."""
    active, bone = context.active_object, context.active_pose_bone
    named = (context.mode, active and active.name, bone and bone.name)
    if context.mode != "POSE":
        return *named, [(ob.name, ob.visible_get()) for ob in context.selected_objects]
    posed = filter(is_armature, context.objects_in_mode)
    return *named, [(ob.name, ob.visible_get(), _collections_shown(ob), _flags(ob)) for ob in posed]


def _collections_shown(ob: Any) -> list[bool]:
    """Which bone collections of an armature are visible."""
    return [each.is_visible_effectively for each in ob.data.collections_all]


def _flags(ob: Any) -> bytes:
    """Which bones of an armature are selected, and which are hidden."""
    bones = ob.pose.bones if HAS_FLAGS_IN_POSE else ob.data.bones
    found = np.empty((2, len(bones)), bool)
    bones.foreach_get("select", found[0])
    bones.foreach_get("hide", found[1])
    return found.tobytes()


def _sight(lower: PoseBone) -> Sight:
    source = None if runs_on_rig(lower) else plan.chains.get(key_of(lower), _Unknown())
    return Sight(lower.id_data, lower.name, source, _places(lower))


class _Unknown:
    """Stands for a live chain that has not been posed yet."""

    posing = None


def _places(lower: PoseBone) -> tuple[int, int]:
    bones = bones_of(lower.id_data)
    return bones.find(upper_of(lower).name), bones.find(lower.name)


def _live(source: Any) -> Seen:
    """What a live chain follows, and is posed by."""
    posing = source.posing
    if posing is None or source.target is None:
        return NOTHING
    body = posing.body
    return source.target, source.pole, Shape(body.limb, body.uninherited, posing.settings, posing.features)


def _on_rig(sight: Sight, depsgraph: Depsgraph) -> Seen:
    """The same of a chain on the rig, of which nothing is kept: it is measured."""
    lower = bones_of(sight.object)[sight.lower]
    posed, settings = bones_of(sight.object.evaluated_get(depsgraph))[sight.lower], chain_settings(lower)
    target, pole = followed(settings)
    if target is None or any(goal.problem() for goal in (target, pole) if goal):
        return NOTHING
    upper = upper_of(posed)
    try:
        numbers = settings.numbers()
        body = anatomy(upper, posed, upper.scale[:], posed.scale[:], angles_of(numbers))
    except Unposable:
        return NOTHING
    values = solver_settings(numbers, swing_side(lower.name), cos)
    return target, pole, Shape(body.limb, body.uninherited, values, features_of(values, settings.plane))


def _turn(posed: PoseBone) -> Any:
    """The animator's own rotation of a bone."""
    turn: Any = posed.matrix_basis.to_quaternion()
    return tuple(turn)
