"""Chains of one object that need nothing of each other, posed one after the other or, if they are many, by arrays."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from bpy.types import Depsgraph, Object

from ..rig.access import ArmatureObject, has_bone
from ..rig.animation import animated_paths, has_action
from ..rig.dependencies import Dependencies
from .batch import Batch, batches_of
from .chain import Chain
from .channels import Channels
from .edits import Standing
from .frame import Frame
from .rendering import is_apart, keep_animation

log = logging.getLogger("planar_ik")


class Group:
    """Chains of one object that can be posed at the same time."""

    def __init__(self, ob: ArmatureObject, chains: list[Chain]) -> None:
        self.object = ob
        self.chains = chains
        self.needs: set[Group] = set()
        """Those that must be posed before."""
        self.has_lost = False
        """Whether something that a chain refers to was deleted."""
        self._anew = set(chains)
        """Those that must be looked at anew before they are posed."""
        self._is_rig_edited = False
        self._bones: list[int] = []
        """Where among the pose's bones the upper and the lower bone of each chain are."""
        self._standing: Standing | None = None
        self._paths: dict[Object, set[str]] = {}
        self._followed: dict[Object, set[tuple[str, bool]]] = {}
        self._batches: list[Batch] | None = None
        self._singles = chains

    def watched(self) -> set[Object]:
        """The objects whose place or pose matters to the chains."""
        return {ob for chain in self.chains for ob, _ in chain.follows()}

    def look_at(self, lowers: set[str]) -> None:
        """The rig was edited: look anew at the chains of these lower bones, and at what stands in all channels."""
        self._is_rig_edited = True
        self._anew.update(chain for chain in self.chains if chain.lower in lowers)

    def misses_others(self, ob: Object) -> bool:
        """Whether other bones of an object that are followed are missing than when the chains were looked at."""
        return any(has_bone(ob, name) != was_there for name, was_there in self._followed.get(ob, ()))

    def has_other_curves(self, actions: set[Any]) -> bool:
        """Whether one of these actions animates something else of the rig or its targets than it did."""
        return any(has_action(ob, actions) and animated_paths(ob) != paths for ob, paths in self._paths.items())

    def pose(self, depsgraph: Depsgraph, has_changed: bool, dependencies: Dependencies) -> bool:
        """Pose the chains, and say whether that changed anything."""
        evaluated = self.object.evaluated_get(depsgraph)
        if not evaluated.is_evaluated:
            return False
        if self._anew:
            find = self.object.pose.bones.find
            self._bones = [find(name) for chain in self.chains for name in (chain.upper, chain.lower)]
            self._followed = self._bones_followed()
            self._paths = {ob: dependencies.animated_paths(ob) for ob in self.watched()}
        if self._paths[self.object] and (depsgraph.mode == "RENDER" or is_apart(self.object, evaluated)):
            keep_animation(self.object, evaluated)
        channels = Channels(self.object)
        frame = Frame(evaluated, depsgraph, has_changed)
        touched = self._touched(channels)
        if self._anew or touched:
            self._batches, self._singles = None, self.chains
        else:
            self._pose_batches(frame, channels)
        self._pose_singles(frame, channels, touched, dependencies)
        self._standing = Standing(self._bones, channels) if self._is_rig_edited else None
        self._is_rig_edited = False
        if channels.write():
            return True
        if channels.differ_in(evaluated):  # which is another scene's, last posed in another frame
            self.object.update_tag(refresh={"DATA"})
            return True
        return False

    def _bones_followed(self) -> dict[Object, set[tuple[str, bool]]]:
        """The bones that are followed by name, and whether they are there."""
        found: dict[Object, set[tuple[str, bool]]] = {}
        for ob, name in (each for chain in self.chains for each in chain.follows()):
            if name:
                found.setdefault(ob, set()).add((name, has_bone(ob, name)))
        return found

    def _touched(self, channels: Channels) -> set[Chain]:
        """The chains whose bones somebody else turned, moved or scaled since they were posed."""
        if not self._is_rig_edited:
            return set()
        if self._standing is None:
            return set(self.chains)
        changed = self._standing.changed(channels).reshape(-1, 2).any(axis=1)
        return {self.chains[i] for i in np.flatnonzero(changed).tolist()}

    def _pose_batches(self, frame: Frame, channels: Channels) -> None:
        """Pose those chains together that were regular when last looked at, and are not outdated now."""
        if self._batches is None and any(chain.is_unsettled for chain in self.chains):
            return
        if self._batches is None:
            self._batches = batches_of(self.chains)
            batched = {chain for batch in self._batches for chain in batch.chains}
            self._singles = [chain for chain in self.chains if chain not in batched]
        try:
            if not any(chain.is_outdated(frame) for batch in self._batches for chain in batch.carried):
                for batch in self._batches:
                    batch.pose(frame, channels)
                return
        except Exception as error:  # noqa: BLE001 - posed singly, the chain that is at fault says so
            log.debug("Posing by arrays failed: %r", error)
        self._batches, self._singles = [], self.chains

    def _pose_singles(self, frame: Frame, channels: Channels, touched: set[Chain], dependencies: Dependencies) -> None:
        anew, self._anew = self._anew, set()
        index = {bone.name: i for i, bone in enumerate(self.object.pose.bones)} if anew else {}
        for chain in self._singles:
            try:
                if chain in anew:
                    chain.prepare(frame, channels, index, dependencies)
                elif chain in touched or chain.is_outdated(frame):
                    chain.refresh(frame, channels)
                chain.pose(frame, channels)
            except ReferenceError:
                self.has_lost = True
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one chain must not stop the others
                chain.problem = f"A fault of Planar IK, please report it: {error!r}"
