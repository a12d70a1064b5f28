"""Integrations: one public file for each library, which it alone imports."""
