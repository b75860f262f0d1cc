"""Question-answer-evidence sets made from a knowledge base: by rules, or with a language model; reviewed, exported."""
