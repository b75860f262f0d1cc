"""Ways to find chunks, one file each."""
