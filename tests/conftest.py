"""For every test: hypothesis without a clock, since the machines that run this are shared and slow."""

from hypothesis import settings

settings.register_profile("planar_ik", deadline=None, print_blob=True)
settings.load_profile("planar_ik")
