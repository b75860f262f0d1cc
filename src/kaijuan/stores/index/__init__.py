"""Index engines."""
