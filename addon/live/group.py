"""Chains of one object that need nothing of each other, posed one after the other or, if they are many, by arrays."""

from __future__ import annotations

import logging

from bpy.types import Depsgraph

from ..rig.access import ArmatureObject
from ..rig.dependencies import Dependencies
from .batch import Batch, batches_of
from .chain import Chain
from .channels import Channels
from .frame import Frame
from .rendering import is_apart, keep_animation

log = logging.getLogger("planar_ik")


class Group:
    """Chains of one object that can be posed at the same time."""

    def __init__(self, ob: ArmatureObject, chains: list[Chain]) -> None:
        self.object = ob
        self.chains = chains
        self.has_lost = False
        """Whether something that a chain refers to was deleted."""
        self._paths: set[str] = set()
        self._batches: list[Batch] | None = None
        self._singles = chains

    def pose(self, depsgraph: Depsgraph, has_changed: bool, edited: Dependencies | None) -> bool:
        """Pose the chains, and say whether that changed anything. With ``edited``, they are looked at anew before."""
        evaluated = self.object.evaluated_get(depsgraph)
        if not evaluated.is_evaluated:
            return False
        if edited:
            self._paths = edited.animated_paths(self.object)
        if self._paths and (depsgraph.mode == "RENDER" or is_apart(self.object, evaluated)):
            keep_animation(self.object, evaluated)
        channels = Channels(self.object)
        frame = Frame(evaluated, depsgraph, has_changed)
        if edited:
            self._batches, self._singles = None, self.chains
        else:
            self._pose_batches(frame, channels)
        self._pose_singles(frame, channels, edited)
        if channels.write():
            return True
        if channels.differ_in(evaluated):  # which is another scene's, last posed in another frame
            self.object.update_tag(refresh={"DATA"})
            return True
        return False

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

    def _pose_singles(self, frame: Frame, channels: Channels, edited: Dependencies | None) -> None:
        index = {bone.name: i for i, bone in enumerate(self.object.pose.bones)} if edited else {}
        for chain in self._singles:
            try:
                if edited:
                    chain.prepare(frame, channels, index, edited)
                elif chain.is_outdated(frame):
                    chain.refresh(frame, channels)
                chain.pose(frame, channels)
            except ReferenceError:
                self.has_lost = True
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one chain must not stop the others
                chain.problem = f"A fault of Planar IK, please report it: {error!r}"
