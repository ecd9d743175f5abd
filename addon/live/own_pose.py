"""The animator's own (FK) pose of a limb, which the solver writes over: found out, kept with the file, given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..rig.access import ArmatureObject, chain_settings, upper_of
from ..solver.chain import Own
from .channels import Channels
from .parts import Rotation, Scale, read_rotation, read_scale

if TYPE_CHECKING:
    from bpy.types import PoseBone

    from ..rig.settings import ChainSettings


class OwnPose:
    """The rotation and scale channels of a chain's bones, by role: ``upper`` and ``lower``.

    The chain's settings hold what is the animator's while the solver's stands in the channels, for when the file is
    opened or a step undone.
    """

    def __init__(self, ob: ArmatureObject, lower: str) -> None:
        self._object = ob
        self._lower = lower
        self.rotations: dict[str, Rotation] = {}
        self.scales: dict[str, Scale] = {}

    def turns(self) -> Own:
        """The animator's rotations."""
        return Own(self.rotations["upper"].own_rotation(), self.rotations["lower"].own_rotation())

    def sizes(self) -> tuple[Sequence[float], Sequence[float]]:
        """The animator's scales of the upper and the lower bone."""
        return self.scales["upper"].own, self.scales["lower"].own

    def read(self, channels: Channels, index: dict[str, int]) -> None:
        """Find out what is the animator's; ``index`` holds each bone's place among the pose's bones."""
        settings, lower = self._settings, self._bone
        if not settings.is_posed:
            self.rotations.clear()
            self.scales.clear()
        for role, bone in (("upper", upper_of(lower)), ("lower", lower)):
            i = index[bone.name]
            kept = getattr(settings, f"own_{role}") if settings.is_posed else None
            rotation = self.rotations[role] = read_rotation(bone, i, channels, self.rotations.get(role), kept)
            self._keep_rotation(role, rotation)
            kept = getattr(settings, f"own_{role}_scale") if settings.is_posed else None
            scale = self.scales[role] = read_scale(i, channels, self.scales.get(role), kept)
            self._keep_scale(role, scale)

    def ensure(self, channels: Channels) -> None:
        """Read it if what was read is out of date."""
        if self._is_outdated():
            self._read_again(channels)

    def notice(self, channels: Channels) -> None:
        """Take what was animated or set by hand since the last time as the animator's; the solver is about to write."""
        if self._is_outdated():
            self._read_again(channels)
            self.mark_posed()
            return
        for role, rotation in self.rotations.items():
            if rotation.notice(channels):
                self._keep_rotation(role, rotation)
        for role, scale in self.scales.items():
            if scale.notice(channels):
                self._keep_scale(role, scale)

    def mark_posed(self) -> None:
        """From now on the solver's numbers stand in the channels."""
        if not self._settings.is_posed:
            self._settings.is_posed = True

    def adopt(self, channels: Channels, stretched: Sequence[Scale]) -> None:
        """Make what stands in the channels the animator's; of the scales, those that are stretched."""
        self.ensure(channels)
        for role, rotation in self.rotations.items():
            rotation.own = rotation.written = channels.get(rotation.slot)
            self._keep_rotation(role, rotation)
        for role, scale in self.scales.items():
            if scale in stretched:
                scale.own = scale.written = channels.get(scale.slot)
                self._keep_scale(role, scale)

    def restore(self, channels: Channels) -> None:
        """Put the animator's numbers back where the solver's stand."""
        for part in (*self.rotations.values(), *self.scales.values()):
            part.restore(channels)

    def release(self, channels: Channels) -> None:
        """Give the bones back, until the solver poses them again."""
        if self._settings.is_posed:
            self.ensure(channels)
            self.restore(channels)
            self._settings.is_posed = False

    @property
    def _bone(self) -> PoseBone:
        return self._object.pose.bones[self._lower]

    @property
    def _settings(self) -> ChainSettings:
        return chain_settings(self._bone)

    def _is_outdated(self) -> bool:
        """Whether the bones were not posed when last read, so that anything may be new, or turn in other modes now."""
        if not (self.rotations and self._settings.is_posed):
            return True
        modes = (self.rotations["upper"].mode, self.rotations["lower"].mode)
        return modes != (upper_of(self._bone).rotation_mode, self._bone.rotation_mode)

    def _read_again(self, channels: Channels) -> None:
        self.read(channels, {bone.name: i for i, bone in enumerate(self._object.pose.bones)})

    def _keep_rotation(self, role: str, rotation: Rotation) -> None:
        _keep(self._settings, f"own_{role}", [*rotation.own, 0.0][:4])

    def _keep_scale(self, role: str, scale: Scale) -> None:
        _keep(self._settings, f"own_{role}_scale", scale.own)


def _keep(settings: Any, name: str, numbers: Sequence[float]) -> None:
    if list(getattr(settings, name)) != list(numbers):
        setattr(settings, name, numbers)
