"""Shipped contract suites and deterministic doubles, for our adapters and those of others."""
