"""The interface in simplified Chinese."""

from .labels import LABELS, OPERATORS
from .sentences import SENTENCES
from .tooltips import TOOLTIPS

ZH_HANS = {
    **{("*", text): said for text, said in (LABELS | TOOLTIPS | SENTENCES).items()},
    **{("Operator", text): said for text, said in (LABELS | OPERATORS).items()},
}
"""By Blender's context and the English words."""
