"""The same cases each time, by no clock, since the machines that run this are shared and slow.

``make solver ARGS=--hypothesis-profile=hunt`` takes the other profile, which tries new ones.
"""

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

from scripts.package import BUILD

FOUND = DirectoryBasedExampleDatabase(BUILD / "cache" / "hypothesis")
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("hunt", deadline=None, max_examples=300, print_blob=True, database=FOUND)
settings.load_profile("same")
