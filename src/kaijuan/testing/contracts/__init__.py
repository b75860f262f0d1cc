"""One suite per port; an adapter passes it or declares what it cannot do."""
