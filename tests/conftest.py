"""For every test: hypothesis without a clock, since the machines that run this are shared and slow."""

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

from scripts.package import BUILD

EXAMPLES = DirectoryBasedExampleDatabase(BUILD / "cache" / "hypothesis")
settings.register_profile("planar_ik", deadline=None, print_blob=True, database=EXAMPLES)
settings.load_profile("planar_ik")
