"""Judges of answers, one a file: rules, and a language model behind an OpenAI-compatible service."""
