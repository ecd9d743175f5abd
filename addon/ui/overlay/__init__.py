"""The overlay: where the selected limb can reach, what it misses, and where its knee points. It fills nothing."""

from . import drawing

CLASSES = drawing.CLASSES
register, unregister = drawing.register, drawing.unregister
