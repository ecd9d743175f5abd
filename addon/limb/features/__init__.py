"""What a limb may have, a file each: its sliders and choices, when it can be had, its share in the solver's settings
and in how a pose is shown, its parts on a rig. Everybody else goes through the list."""

from .ankle import FEATURE as ANKLE
from .feature import Feature
from .foot import FEATURE as FOOT
from .pole_follow import FEATURE as POLE_FOLLOW
from .roll import FEATURE as ROLL
from .root_limits import FEATURE as ROOT_LIMITS
from .slide import FEATURE as SLIDING
from .softness import FEATURE as SOFTNESS
from .stretch import FEATURE as STRETCH
from .twist import FEATURE as TWIST

FEATURES: tuple[Feature, ...] = (FOOT, SOFTNESS, STRETCH, ANKLE, ROLL, POLE_FOLLOW, TWIST, SLIDING, ROOT_LIMITS)
"""In the order of a panel, and in which they are given to a limb."""

BY_NAME = {feature.name: feature for feature in FEATURES}
