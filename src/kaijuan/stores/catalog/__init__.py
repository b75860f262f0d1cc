"""The relational catalog."""
