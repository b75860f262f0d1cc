"""Messages as they are sent and stored, read to one form: who, when, what, and what is attached."""
