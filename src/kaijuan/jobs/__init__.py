"""Runs: sources in, one published snapshot out."""
