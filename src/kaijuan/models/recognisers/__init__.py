"""Networks that read words in pictures."""
