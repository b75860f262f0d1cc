"""Networks and models that order candidates, one adapter a file."""
