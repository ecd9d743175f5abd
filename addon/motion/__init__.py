"""The way through time: frames, read, poses, to IK or to FK, write."""
