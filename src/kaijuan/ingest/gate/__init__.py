"""The gate: pure detectors of what should be looked at by a person before it is published. One idea a file."""
