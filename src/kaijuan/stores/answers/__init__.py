"""Answers kept for a while."""
