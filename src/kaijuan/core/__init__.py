"""The nouns: documents, blocks, chunks, spans, citations, filters, snapshots, ids and text analysis. Pure; no I/O."""
