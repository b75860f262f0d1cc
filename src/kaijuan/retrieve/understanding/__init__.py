"""What a question means: small steps, each with a time limit and a default, all of them shown in the trace."""
