"""Short names of attacks and tasks for tables.

`vec2text:priors/minilm,steps=4` is "vec2text".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from vecveil.audit.rows import AttackRow


def attack_names(rows: Iterable[AttackRow]) -> dict[str, str]:
    """Return the name of each attack that people read, with the number of releases where it averages several."""
    releases = {row.attack: row.releases for row in rows}
    names = _shorten(releases, (_kind, _kind_and_file))
    return {
        spec: name if releases[spec] == 1 or "releases=" in name else f"{name}, {releases[spec]} releases"
        for spec, name in names.items()
    }


def task_names(specs: Iterable[str]) -> dict[str, str]:
    """Return the name of each task that people read: what it is, and the file it is made from without its folder."""
    return _shorten(dict.fromkeys(specs), (_kind_and_file,))


def _shorten(specs: Iterable[str], ways: tuple[Callable[[str], str], ...]) -> dict[str, str]:
    """Return for each spec the first name that no other spec shares; itself where there is none."""
    names = {spec: spec for spec in specs}
    for way in reversed(ways):
        taken = Counter(way(spec) for spec in names)
        names |= {spec: way(spec) for spec in names if taken[way(spec)] == 1}
    return names


def _kind(spec: str) -> str:
    return _kind_and_file(spec).partition(":")[0]


def _kind_and_file(spec: str) -> str:
    kind, colon, path = spec.partition(",")[0].partition(":")
    return kind + colon + path.rstrip("/").replace("\\", "/").rpartition("/")[2]
