"""Readers of documents beside ours: one file each, a path to Markdown, as its documentation shows for offline use."""
