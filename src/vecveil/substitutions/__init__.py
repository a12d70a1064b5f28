"""Substitutions: what becomes of private words before a model reads them."""

from vecveil.substitutions.substitution import (
    DEFAULT_SUBSTITUTION,
    REMOVED,
    SUBSTITUTIONS,
    Draw,
    Substitution,
    Value,
    build_substitution,
    fold_value,
    rewrite_text,
    substitution_from_settings,
)

__all__ = ["DEFAULT_SUBSTITUTION", "REMOVED", "SUBSTITUTIONS", "Draw", "Substitution", "Value"]
__all__ += ["build_substitution", "fold_value", "rewrite_text", "substitution_from_settings"]
