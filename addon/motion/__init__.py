"""The way through time: which frames are looked at."""
