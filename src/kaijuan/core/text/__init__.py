"""Text analysis, the same for what is stored and what is asked (design section 6)."""
