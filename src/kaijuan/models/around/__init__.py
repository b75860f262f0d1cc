"""Behaviours that wrap a model port: cache, retry, limit."""
