"""The service: HTTP for every verb, server-sent events, an OpenAI-compatible face, MCP, and the console's files."""
