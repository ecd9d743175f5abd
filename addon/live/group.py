"""Chains of one object that need nothing of each other, posed one after the other or, if they are many, by arrays."""

from __future__ import annotations

import logging
from array import array
from contextlib import ExitStack
from typing import Any

from bpy.types import Depsgraph, Object, PoseBone

from ..rig.data.access import ArmatureObject, has_bone
from ..rig.data.animation import animated_paths, has_action
from ..rig.data.dependencies import Dependencies
from ..rig.data.rotation import rotation_channel
from ..rig.problems import moved_by
from . import own_pose
from .batch import Batch, batches_of
from .chain import Chain, is_outdated, pose, prepare, refresh
from .channels import Channels
from .edits import Standing
from .frame import Frame, is_apart, lend_animation

log = logging.getLogger("planar_ik")


class Group:
    """Chains of one object that can be posed at the same time."""

    def __init__(self, ob: ArmatureObject, chains: list[Chain]) -> None:
        self.object = ob
        self.chains = chains
        self.needs: set[Group] = set()
        """Groups that must be posed before this one."""
        self.others: list[Group] = []
        """Groups of the same armature."""
        self.beside: list[Group] = []
        """Groups of the same armature that are not posed after this one in the current event, so that their solutions
        must stand."""
        self.has_lost = False
        """Whether something that a chain refers to was deleted."""
        self.solved: Channels | None = None
        """The channels with the solutions that were last found."""
        self._shown = b""
        self._is_kept = False
        self._anew = set(chains)
        """Those that must be looked at anew before they are posed."""
        self._is_rig_edited = False
        self._bones: list[int] = []
        """Where among the pose's bones the upper and the lower bone of each chain are."""
        self._channels: set[str] = set()
        """The channels in which these have their place."""
        self._standing: Standing | None = None
        self._paths: dict[Object, set[str]] = {}
        self._followed: dict[Object, set[tuple[str, bool]]] = {}
        self._batches: list[Batch] | None = None
        self._singles = chains

    def swap(self, to: Any) -> None:
        """Put something else in the place of every object, or of what stands for it; drop the rest of the file."""
        self.object = to(self.object)
        self._paths = {to(ob): paths for ob, paths in self._paths.items()}
        self._followed = {to(ob): bones for ob, bones in self._followed.items()}
        self._batches, self._singles = None, self.chains
        self.solved = None

    def watched(self) -> set[Object]:
        """The objects whose place or pose matters to the chains."""
        return {ob for chain in self.chains for ob, _ in chain.follows()}

    def look_at(self, lowers: set[str]) -> None:
        """The rig was edited: look anew at the chains of these lower bones and those that something else moves or no
        longer does, and at what stands in all channels."""
        self._is_rig_edited = True
        self._anew.update(chain for chain in self.chains if chain.obstacles.movers and _is_moved_otherwise(chain))
        if lowers:
            self._anew.update(chain for chain in self.chains if chain.lower in lowers)

    def misses_others(self, ob: Object) -> bool:
        """Whether other bones of an object that are followed are missing than when the chains were looked at."""
        return any(has_bone(ob, name) != was_there for name, was_there in self._followed.get(ob, ()))

    def has_other_curves(self, actions: set[Any]) -> bool:
        """Whether one of these actions animates something else of the rig or its targets than it did."""
        return any(has_action(ob, actions) and animated_paths(ob) != paths for ob, paths in self._paths.items())

    def pose(self, depsgraph: Depsgraph, has_changed: bool, dependencies: Dependencies, lent: ExitStack | None) -> bool:
        """Pose the chains, and say whether that is to be evaluated.

        The solutions are ``lent`` to the channels, or without that stay in them, with the animator's own pose beside.
        """
        evaluated = self.object.evaluated_get(depsgraph)
        if not evaluated.is_evaluated:
            return False
        self._is_kept = lent is None or self.object.library is not None
        if self._anew:
            self._prepare(dependencies)
        paths = self._paths[self.object]
        is_lent = bool(paths) and is_apart(self.object, evaluated, depsgraph)
        if is_lent:
            lend_animation(self.object, evaluated, paths, lent or ExitStack())
        channels = Channels(self.object)
        self._recall(channels)
        touched = self._touched(channels)
        own = channels.copy() if self._is_kept else channels
        self._solve(Frame(evaluated, depsgraph, has_changed), channels, touched, dependencies)
        if self._is_kept:
            self._keep(own, channels)
        if self._is_shown(channels, evaluated, is_lent):
            return False
        # The same transform again costs less than the armature; but what hangs on it may have a simulation to lose.
        is_in_place = not has_changed and self.object.matrix_world == evaluated.matrix_world
        channels.write("OBJECT" if is_in_place else "DATA")
        if lent and not self._is_kept:
            lent.callback(channels.take_back)
        return True

    def _prepare(self, dependencies: Dependencies) -> None:
        """Take notice of what only an edit changes."""
        find = self.object.pose.bones.find
        self._bones = [find(name) for chain in self.chains for name in (chain.upper, chain.lower)]
        modes = {self.object.pose.bones[i].rotation_mode for i in self._bones if i >= 0}
        self._channels = {"location", "scale", *map(rotation_channel, modes)}
        self._followed = self._bones_followed()
        self._paths = {ob: dependencies.animated_paths(ob) for ob in self.watched()}
        if not self._is_kept:
            own_pose.give_back(self.object, self._lowers())

    def _solve(self, frame: Frame, channels: Channels, touched: set[Chain], dependencies: Dependencies) -> None:
        if self._anew or touched:
            self._batches, self._singles = None, self.chains
        else:
            self._pose_batches(frame, channels)
        self._pose_singles(frame, channels, touched, dependencies)
        for group in () if self._is_kept else self.beside:
            group.show_again(channels)

    def show_again(self, channels: Channels) -> None:
        """Set the solutions that were last found."""
        for chain in self.chains:
            if chain.posing and not chain.problem and self.solved:
                for slot in (chain.posing.upper.slot, chain.posing.lower.slot, *chain.posing.lengthened):
                    channels.set(slot, self.solved.get(slot))

    def _bones_followed(self) -> dict[Object, set[tuple[str, bool]]]:
        """The bones that are followed by name, and whether they are there."""
        found: dict[Object, set[tuple[str, bool]]] = {}
        for ob, name in (each for chain in self.chains for each in chain.follows()):
            if name:
                found.setdefault(ob, set()).add((name, has_bone(ob, name)))
        return found

    def _touched(self, channels: Channels) -> set[Chain]:
        """The chains whose bones somebody turned, moved or scaled since they were posed."""
        if not self._is_rig_edited:
            self._standing = None
            return set()
        last, self._standing = self._standing, Standing(self._bones, self._channels, channels)
        self._is_rig_edited = False
        if last is None:
            return set(self.chains)
        changed = last.changed(channels)
        return {self.chains[i // 2] for i, bone in enumerate(self._bones) if bone in changed}

    def _recall(self, channels: Channels) -> None:
        """Read the animator's own pose where solutions are kept in the channels."""
        if self._is_kept:
            for lower in self._lowers():
                own_pose.recall(lower, channels)

    def settle(self) -> None:
        """Leave the solutions in the channels that were last found, with the animator's own pose beside them."""
        own, channels = Channels(self.object), Channels(self.object)
        self.show_again(channels)
        self._keep(own, channels)
        channels.write()

    def _lowers(self) -> list[PoseBone]:
        """The lower bones that are still there, with their parents."""
        bones = self.object.pose.bones
        return [bones[chain.lower] for chain in self.chains if chain.lower in bones and bones[chain.lower].parent]

    def _keep(self, own: Channels, solved: Channels) -> None:
        posed = {chain.lower for chain in self.chains if chain.posing and not chain.problem}
        for lower in self._lowers():
            if lower.name in posed:
                own_pose.keep(lower, own, solved)
            else:
                own_pose.forget(lower)

    def _is_shown(self, channels: Channels, evaluated: ArmatureObject, is_apart: bool) -> bool:
        """Whether the evaluated pose is that of the channels already."""
        last, self.solved = self.solved, channels
        if is_apart or last is None or not channels.equals(last):
            return False
        return self._shown == _matrices(evaluated)

    def note_shown(self, depsgraph: Depsgraph) -> None:
        """Take notice of how the solutions look: Blender may evaluate the animator's pose in their stead."""
        self._shown = _matrices(self.object.evaluated_get(depsgraph))

    def _pose_batches(self, frame: Frame, channels: Channels) -> None:
        """Pose those chains together that were regular when last looked at, and are not outdated now."""
        if self._batches is None and any(chain.is_unsettled for chain in self.chains):
            return
        if self._batches is None:
            self._batches = batches_of(self.chains)
            batched = {chain for batch in self._batches for chain in batch.chains}
            self._singles = [chain for chain in self.chains if chain not in batched]
        try:
            parents = {parent for batch in self._batches for parent in batch.parents}
            carried = (chain for batch in self._batches for chain in batch.carried)
            if not any(map(frame.is_nothing, parents)) and not any(is_outdated(chain, frame) for chain in carried):
                for batch in self._batches:
                    batch.pose(frame, channels)
                return
        except Exception:  # posed singly, the chain that is at fault says so
            sentence = "Posing limbs together failed, so they are posed one by one, which takes longer"
            log.warning(sentence, exc_info=True)
        self._batches, self._singles = [], self.chains
        channels.reset()
        self._recall(channels)

    def _pose_singles(self, frame: Frame, channels: Channels, touched: set[Chain], dependencies: Dependencies) -> None:
        anew, self._anew = self._anew, set()
        for chain in self._singles:
            try:
                if chain in anew:
                    prepare(chain, frame, channels, dependencies)
                elif chain in touched or is_outdated(chain, frame):
                    refresh(chain, frame, channels)
                pose(chain, frame, channels)
            except ReferenceError:
                self.has_lost = True
            except Exception as error:  # whatever is wrong with one chain must not stop the others
                chain.posing = None
                chain.problem = f"A fault of Planar IK, please report it: {error!r}"
                log.debug("%s", chain.name, exc_info=True)


def _is_moved_otherwise(chain: Chain) -> bool:
    """Whether other constraints or chains act on the limb than when the chain was last looked at. Switching one on or
    off turns no bone until the limb is posed, so that nothing else tells."""
    movers = chain.obstacles.movers
    if not (chain.posing or chain.problem):  # nothing is said of a chain that is off
        return False
    bones = chain.object.pose.bones
    if any(mover.bone not in bones for mover in movers):
        return True
    is_renamed = any(each.constraint and each.constraint not in bones[each.bone].constraints for each in movers)
    return is_renamed or moved_by(chain.object, movers) != chain.problem


def _matrices(evaluated: ArmatureObject) -> bytes:
    numbers = array("f", bytes(64 * len(evaluated.pose.bones)))
    evaluated.pose.bones.foreach_get("matrix", numbers)
    return numbers.tobytes()
