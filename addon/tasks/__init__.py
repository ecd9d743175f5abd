"""What people do with limbs, without buttons: add, remove, snap, switch, mirror, convert."""
