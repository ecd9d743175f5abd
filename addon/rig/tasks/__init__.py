"""What people ask of limbs: to become chains, to be converted, mirrored, snapped and left again."""
