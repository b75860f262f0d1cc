"""Content-addressed bytes."""
