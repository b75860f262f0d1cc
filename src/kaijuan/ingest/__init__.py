"""Bytes to blocks to chunks: sources, kind detection, parsers, chunkers."""
