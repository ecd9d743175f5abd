"""Taking limbs away, with all that was made for them; the rig is as it was before."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..finding.checking import check_editable
from ..limb.transactional import transactional
from ..live import refresh
from ..rigging.apply import apply
from ..rigging.description import ref_of

__all__ = ["STAYING", "refresh", "remove"]

STAYING = "Kept {names}: something else uses it"


@transactional
def remove(context: Context, limbs: Sequence[PoseBone]) -> list[str]:
    """Remove limbs, of one rig or several, with the animation of their settings and the controls that nothing else
    uses; returns the names of controls that stay. Bones go back to their FK pose. A constraint that was there before
    the limb poses again."""
    for limb in limbs:
        check_editable(limb)
    kept = apply(context, {ref_of(limb): None for limb in limbs})
    refresh(context)
    return kept
