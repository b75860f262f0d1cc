"""Strategies that cut blocks into chunks, one file each."""
