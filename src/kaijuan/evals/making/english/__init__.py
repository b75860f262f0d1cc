"""How questions are made of English sentences."""
