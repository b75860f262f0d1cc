"""Passages that say next to nothing: found by rule, marked with a reason, never taken out of the text."""
