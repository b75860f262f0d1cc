"""The service's routes, a file for each noun. Each is thin over a verb of the engine."""
