"""Where state lives: a folder per port, a file per backend. Reached by name only."""
