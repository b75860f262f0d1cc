"""Language models that write, one adapter a file."""
