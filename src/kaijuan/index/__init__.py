"""Chunks to searchable state: embed, write, publish, reconcile, rebuild."""
