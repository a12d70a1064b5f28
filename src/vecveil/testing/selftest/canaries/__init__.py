"""Parts that are broken on purpose."""
