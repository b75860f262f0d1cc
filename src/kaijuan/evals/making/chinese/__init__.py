"""How questions are made of Chinese sentences, in simplified or traditional characters."""
