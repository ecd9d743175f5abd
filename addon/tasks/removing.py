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

STAYING = "Kept {names}: something uses or animates it"


@transactional
def remove(context: Context, limbs: Sequence[PoseBone]) -> list[str]:
    """Take limbs away, of one rig or several, with what animates their settings and the controls that nothing uses any
    more; the names of controls that stay. The bones have their own pose again. A constraint that was there before the
    limb poses again."""
    for limb in limbs:
        check_editable(limb)
    kept = apply(context, {ref_of(limb): None for limb in limbs})
    refresh(context)
    return kept
