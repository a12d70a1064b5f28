"""Registry of components by name, with entry points of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from vecveil.core.checks import one_of
from vecveil.core.errors import UnknownNameError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Registry(Generic[T]):
    """The names of one kind of component, each loaded only when it is asked for.

    Attributes:
        kind: What the components are, for error messages.
        builtin: Name to `package.module:attribute`.
        group: Entry-point group through which other packages add theirs; a built-in name cannot be replaced.
    """

    kind: str
    builtin: Mapping[str, str]
    group: str

    def names(self) -> list[str]:
        """Return every known name, sorted."""
        return sorted({*self.builtin, *(point.name for point in _points(self.group))})

    def load(self, name: str) -> T:
        """Return the component registered as `name`."""
        target = self.builtin.get(name)
        if target is not None:
            module, _, attribute = target.partition(":")
            return cast(T, getattr(import_module(module), attribute))
        for point in _points(self.group):
            if point.name == name:
                return cast(T, point.load())
        raise UnknownNameError(self.kind, name, self.names())


def build(registry: Registry[type[T]], name: str, settings: Mapping[str, Any]) -> T:
    """Return the component registered as `name`, a dataclass, with `settings` over its defaults."""
    component: Any = registry.load(name)
    known = {field.name for field in fields(component)}
    built: T = component(
        **{one_of(key, known, f"setting of the {registry.kind} {name!r}"): value for key, value in settings.items()}
    )
    return built


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    # Reading the metadata of every installed package takes tens of milliseconds, so it is done once.
    return tuple(entry_points(group=group))
