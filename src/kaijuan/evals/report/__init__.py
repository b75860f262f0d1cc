"""One HTML page about stored runs: self-contained, in Chinese or English, every word of documents escaped."""
