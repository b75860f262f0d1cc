"""One format, one file. They run in a child process and are loaded by name."""
