"""Substitutions: what becomes of private words before a model reads them."""

from vecveil.substitutions.registry import (
    DEFAULT_SUBSTITUTION,
    SUBSTITUTIONS,
    build_substitution,
    substitution_from_settings,
)
from vecveil.substitutions.substitution import REMOVED, Draw, Substitution, Value, fold_value, rewrite_text

__all__ = ["DEFAULT_SUBSTITUTION", "REMOVED", "SUBSTITUTIONS", "Draw", "Substitution", "Value"]
__all__ += ["build_substitution", "fold_value", "rewrite_text", "substitution_from_settings"]
