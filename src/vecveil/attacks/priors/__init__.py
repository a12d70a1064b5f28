"""Priors: what a generative attack has learned on public sentences before it meets a defence."""
