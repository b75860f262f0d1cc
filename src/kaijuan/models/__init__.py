"""The networks. Reached by name only."""
