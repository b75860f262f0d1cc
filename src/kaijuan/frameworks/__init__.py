"""Retrievers for other frameworks: kaijuan.frameworks.langchain and kaijuan.frameworks.llamaindex, each an extra."""
