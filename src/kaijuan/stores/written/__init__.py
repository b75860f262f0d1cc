"""What language models wrote about documents while they were cut."""
