"""Experiments: named configurations, run on the same questions and told apart by a paired test."""
