"""Places documents come from, one file each."""
