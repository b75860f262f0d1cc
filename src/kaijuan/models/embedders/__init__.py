"""Texts to vectors, one file each."""
