"""The contracts that every component must meet, whoever wrote it."""
