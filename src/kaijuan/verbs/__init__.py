"""What an engine can do, by topic; engine.py joins them."""
