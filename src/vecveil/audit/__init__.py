"""Audit: attacks and utility tasks against a veil."""

from vecveil.audit.glance import Glance, GlanceRow

__all__ = ["Glance", "GlanceRow"]
