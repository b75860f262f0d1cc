"""Which documents say the same: signatures to find candidates, exact likeness to prove them, rules to decide."""
