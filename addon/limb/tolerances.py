"""How far off things may be: the few sizes that mean something to a person.

Lengths are parts of a limb's length, or of what else they are beside: the words are for a leg of one metre. Angles are
in radians."""

ROUNDING = 1e-6
"""A thousandth of a millimetre: what is lost in single precision, and counts as nothing."""

ON_TARGET = 1e-5
"""A hundredth of a millimetre: a tip so near to its target is on it, and what is planted does not slip."""

MISS = 3e-5
"""So far a tip may be from its target and still count as on it."""

UNSEEN = 1e-4
"""A tenth of a millimetre: nobody sees it. What is farther off is put right, or told."""

KEPT = 5e-4
"""Half a millimetre: so far what is made may move joints in the frame that is shown."""

FEWER_KEYS = 2e-3
"""Two millimetres: so far joints may be off for the sake of fewer keys, where nobody says otherwise."""

SEEN = 1e-3
"""A millimetre: who looks for it sees it, and is told. Blender's own IK is off its target by up to twice that."""

STRAIGHT = 1e-4
"""The sine of a knee's turn below which a limb is straight: float32 bones far from the origin are so noisy."""

NO_TURN = 1e-5
"""A turn that is none: no key is made for it."""

TURNED = 2e-3
"""A tenth of a degree: how far a bone may be turned and still count as it was."""

KEPT_TURN = 8.727e-3
"""Half a degree: by how much a bone may be turned about its own line where a pose is kept."""
