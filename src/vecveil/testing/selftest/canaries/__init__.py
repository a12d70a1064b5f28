"""Parts that are broken on purpose, and must be caught."""
