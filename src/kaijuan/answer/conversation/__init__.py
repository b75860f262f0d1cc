"""Conversations: what a question leaves unsaid, and what a model is told of what was said before."""
