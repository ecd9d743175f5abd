"""How each object and bone that carries chains can be followed over the frames, and so which chains arrays can pose.

What F-curves alone move is worked out from those, on top of its parent; so is what hangs on a limb that arrays pose.
What else moves things is evaluated by Blender: in a scene that holds nothing but that, if it neither hangs on a chain
nor looks at the scene, or in the scene itself, with its chains live if it may hang on one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from bpy.types import Constraint, Object, PoseBone

from ...live.channels import SIZES
from ...rig.data.access import ArmatureObject, bones_of, is_armature, split_path, upper_of
from ...rig.data.animation import animated_paths
from ...rig.data.dependencies import Carrier
from ...rig.problems import Mover
from ...rig.settings import PREFIX
from ..scope import acting_chains
from .courses.constraints import carriers_of, is_followed
from .courses.evaluation import EVALUATED, Needed, Route, is_foreseen, is_separable
from .subjects import ACTS, Reader, Subject, path_of

TRANSFORMS = ("location", "rotation_", "scale")
"""How the data paths of the channels begin that place a thing in its parent."""

ODD = ("delta_", "rotation_mode", "parent", "matrix_", "hide_viewport")
"""How those begin that place an object in other ways, or keep Blender from placing it."""


class Routes:
    """The routes of everything that chains depend on; ``allowed`` are those that may be taken."""

    def __init__(self, reader: Reader, allowed: Route) -> None:
        self.subjects: dict[Carrier, Subject] = {}
        """The chains that arrays pose, by their lower bones, each after those that it depends on."""
        self.needs: dict[Carrier, set[Carrier]] = {}
        """The chains that each of them directly or by others hangs on."""
        self.wanted: dict[Route, Needed] = {}
        """What must be evaluated, by how."""
        self.dependencies = reader.dependencies
        self.evaluated: set[Carrier] = set()
        """Those of which something is evaluated, itself or of what it hangs on."""
        self._reader = reader
        self._allowed = allowed
        self._known: dict[Any, Route] = {}
        self._limbs: dict[Object, dict[str, PoseBone]] = {}
        self._tried: set[Carrier] = set()
        self._is_separable, self._is_foreseen = cache(is_separable), cache(is_foreseen)
        self._paths = cache(animated_paths)

    def subject(self, lower: PoseBone) -> Subject | None:
        """A chain if arrays can pose it; what must be evaluated for it is noted in ``wanted``."""
        key = (lower.id_data, lower.name)
        if key not in self._tried:
            self._tried.add(key)  # before it is known: chains that depend on each other have no order
            subject = self._reader.subject(lower)
            if subject and self._can_follow(subject):
                self._want(key, subject)
                self.subjects[key] = subject
        return self.subjects.get(key)

    def follow(self, ob: Object, bone: str) -> bool:
        """Whether a bone can be followed in the world without posing a chain for it. What must be evaluated for it is
        noted in ``wanted``."""
        things = [(ob, ""), (ob, bone)]
        leaves = {leaf for each in things if self.of(*each) for leaf in self._leaves(*each)}
        if not all(self.of(*each) for each in things) or any(self.of(*leaf) == Route.SOLUTION for leaf in leaves):
            return False
        for leaf in leaves:
            self._wanted_by(self.of(*leaf)).places.add(leaf)
        return True

    def of(self, ob: Object, bone: str = "") -> Route:
        """How an object in the world is followed, or the pose of a bone in its armature."""
        key = (ob, bone)
        if key not in self._known:
            self._known[key] = self._route(ob, bone)
        return self._known[key]

    def of_channel(self, ob: Object, bone: str, path: str) -> Route:
        """How one of a bone's own channels or settings is followed."""
        key = (ob, bone, path)
        if key not in self._known:
            self._known[key] = self._channel_route(ob, bone, path)
        return self._known[key]

    def _can_follow(self, subject: Subject) -> bool:
        is_moved = all(self.of_channel(subject.object, *each) for each in _channels(subject))
        return is_moved and all(self.of(*each) for each in _things(subject))

    def way(self, lower: Carrier) -> str:
        """How a chain is sampled, as reports say it."""
        if lower not in self.evaluated:
            return "curves"
        return "isolated" if self.wanted.keys() <= {Route.EVALUATION} else "evaluated in the scene"

    def levels(self) -> Iterator[list[Subject]]:
        """All chains that arrays pose, those together that need nothing of each other, after all that they need."""
        levels: dict[Carrier, int] = {}
        for key in self.subjects:
            levels[key] = 1 + max((levels[other] for other in self.needs[key]), default=0)
        for level in sorted(set(levels.values())):
            yield [self.subjects[key] for key, own in levels.items() if own == level]

    def is_needed(self, lower: Carrier) -> bool:
        """Whether another chain hangs on one, by its lower bone."""
        return any(lower in needed for needed in self.needs.values())

    def _want(self, key: Carrier, subject: Subject) -> None:
        """Note what a chain needs: what must be evaluated for it, and other chains."""
        ob = subject.object
        channels = [(ob, *each) for each in _channels(subject) if self.of_channel(ob, *each) & EVALUATED]
        leaves = {leaf for each in _things(subject) for leaf in self._leaves(*each)}
        places = {leaf for leaf in leaves if self.of(*leaf) & EVALUATED}
        self.needs[key] = {(ob, self._limbs_of(ob)[bone].name) for ob, bone in leaves - places}
        for leaf in places:
            self._wanted_by(self.of(*leaf)).places.add(leaf)
        for channel in channels:
            self._wanted_by(self.of_channel(*channel)).channels.add(channel)
        if channels or places or self.needs[key] & self.evaluated:
            self.evaluated.add(key)

    def _wanted_by(self, route: Route) -> Needed:
        return self.wanted.setdefault(route, Needed(set(), set()))

    def _leaves(self, ob: Object, bone: str) -> set[Carrier]:
        """The nearest carriers of a thing, or the thing itself, that are evaluated or solved: the rest follows from
        these by F-curves."""
        route = self.of(ob, bone)
        if route & EVALUATED:
            return {(ob, bone)}
        parents = _parents(ob, bone, is_held=route != Route.SOLUTION)
        above = {leaf for parent in parents for leaf in self._leaves(*parent)}
        return above | {(ob, bone)} if route == Route.SOLUTION else above

    def _route(self, ob: Object, bone: str) -> Route:
        if bone in self._limbs_of(ob):
            may_solve = Route.CURVES in self._allowed and self._reader.is_live(ob)
            is_solved = may_solve and self.subject(self._limbs_of(ob)[bone])
            return Route.SOLUTION if is_solved else self._evaluation([(ob, bone)])
        by_curves = Route.CURVES in self._allowed and self._is_plain(ob, bone)
        if by_curves and all(self.of(*parent) for parent in _parents(ob, bone)):
            return Route.CURVES
        return self._evaluation([(ob, bone)])

    def _channel_route(self, ob: Object, bone: str, path: str) -> Route:
        animation = self._reader.animation(ob)
        if path not in animation.others(bone) and Route.CURVES in self._allowed:
            return Route.CURVES
        drivers = [driver for name, driver in self._reader.dependencies.drivers(ob, bone) if name == path]
        hangs_on = [read for driver in drivers for read in self._reader.dependencies.read_by(driver)]
        route = self._evaluation([(ob, ""), *hangs_on])
        # Of a limb that is posed, the rotation and scale hold the solution.
        return route & ~Route.LIVE if path in SIZES and path != "location" else route

    def _evaluation(self, things: list[Carrier]) -> Route:
        """How Blender can be asked for these."""
        carriers = self._reader.dependencies.carriers(things)
        objects = {ob for ob, _ in carriers}
        is_free = not any(bone in self._limbs_of(ob) for ob, bone in carriers)
        if Route.EVALUATION in self._allowed and is_free and all(map(self._is_separable, objects)):
            return Route.EVALUATION
        if not all(self._reader.is_evaluated(ob) for ob, _ in things):
            return Route.NONE
        if Route.IN_SCENE in self._allowed and is_free and all(map(self._is_foreseen, objects)):
            return Route.IN_SCENE
        return self._allowed & Route.LIVE

    def _limbs_of(self, ob: Object) -> dict[str, PoseBone]:
        """The bones of an object that chains pose, with the chains' lower bones."""
        if ob not in self._limbs:
            lowers = acting_chains(ob) if is_armature(ob) else []
            self._limbs[ob] = {bone.name: lower for lower in lowers for bone in (lower, upper_of(lower))}
        return self._limbs[ob]

    def _is_plain(self, ob: Object, bone: str) -> bool:
        """Whether a thing's own channels, which at most F-curves change, are all that moves it in its parent."""
        animation = self._reader.animation(ob)
        if any(path.startswith(TRANSFORMS) for path in animation.others(bone)):
            return False
        if bone and is_armature(ob):
            is_posed = ob.data.pose_position == "POSE" and not self._changes_at_rest(ob, bone)
            is_turned = any(self._acts(ob, owner.name, each) for owner, each in self._solvers(ob, bone))
            return is_posed and not is_turned and self._is_followed(ob, bone, bones_of(ob)[bone].constraints)
        is_odd = any(path.startswith(ODD) for path in animation.paths("")) or ob.rigid_body or _has_delta(ob)
        is_whole = not is_odd and (ob.parent is None or _is_plain_parent(ob))
        return is_whole and self._is_followed(ob, "", ob.constraints)

    def _changes_at_rest(self, ob: ArmatureObject, bone: str) -> bool:
        """Whether something animates a bone in its armature, or all of that."""
        return bool({"", bone} & {split_path(path)[0] for path in self._paths(ob.data)})

    def _is_followed(self, ob: Object, bone: str, constraints: Iterable[Constraint]) -> bool:
        """Whether the constraints of a thing are known to do nothing, or else what they do."""
        acting = [each for each in constraints if self._acts(ob, bone, each)]
        animation = self._reader.animation(ob)
        if any(animation.moves(Mover(bone, each.name, "")) or not is_followed(each) for each in acting):
            return False
        return not acting or (ob, bone) not in self._reader.dependencies.carriers(carriers_of(acting))

    def _solvers(self, ob: Object, bone: str) -> list[tuple[PoseBone, Constraint]]:
        """The IK constraints that turn a bone."""
        return self._reader.dependencies.solvers(ob, bone)

    def _acts(self, ob: Object, bone: str, constraint: Constraint) -> bool:
        """Whether a constraint may act in some frame."""
        is_on = not constraint.mute and constraint.influence > 0.0
        return is_on or self._reader.animation(ob).moves(Mover(bone, constraint.name, ""))


def _things(subject: Subject) -> list[Carrier]:
    """All that places a chain's root, target and pole in the world."""
    return [*subject.follows(), *((ob, "") for ob, bone in subject.follows() if bone)]


def _channels(subject: Subject) -> Iterator[tuple[str, str]]:
    """The bones' channels and the settings that change, and what says whether a constraint acts, by bone and path from
    there."""
    for own in (subject.upper, subject.lower):
        yield from ((own.name, path) for path in own.moving)
    yield from ((subject.lower.name, PREFIX + name) for name in subject.moving)
    yield from ((mover.bone, path_of(mover) + name) for mover in subject.movers for name in ACTS)


def _parents(ob: Object, bone: str, is_held: bool = True) -> list[Carrier]:
    """What a thing hangs on by its own transform, and if it ``is_held``, by the constraints that are followed."""
    owner: Any = bones_of(ob)[bone] if bone else ob
    found = carriers_of(owner.constraints) if is_held else []
    if bone:
        above = [(ob, owner.parent.name)] if owner.parent else []
        return [*above, *found, *([(ob, "")] if found else [])]
    if ob.parent is None:
        return found
    return [(ob.parent, ""), *([(ob.parent, ob.parent_bone)] if ob.parent_type == "BONE" else []), *found]


def _is_plain_parent(ob: Object) -> bool:
    parent: Any = ob.parent
    if ob.parent_type == "BONE":
        bone = parent.data.bones.get(ob.parent_bone)
        return bone is not None and not bone.use_relative_parent
    is_path = parent.type == "CURVE" and parent.data.use_path  # along which it carries its children
    return ob.parent_type == "OBJECT" and not is_path


def _has_delta(ob: Any) -> bool:
    has_delta = any((*ob.delta_location, *ob.delta_rotation_euler, *(size - 1.0 for size in ob.delta_scale)))
    return has_delta or tuple(ob.delta_rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)
