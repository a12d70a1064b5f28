"""Write the bill of materials that the wheel carries (PEP 770), from pyproject.toml and the locks: sbom.py > SBOM."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

FOLDER = Path(__file__).parent
TOOLS = frozenset({"all", "dev"})
"""Extras for those who work on the package; what others of these name is listed under those."""


def main() -> None:
    """Write CycloneDX in JSON: the same input gives the same bytes."""
    sys.stdout.write(json.dumps(make_sbom(), indent=1, sort_keys=True) + "\n")


def make_sbom() -> dict[str, Any]:
    """Return what is declared, in the versions that are locked: what base needs, and what extras add."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = read_versions()
    extras = [one for name, some in project["optional-dependencies"].items() if name not in TOOLS for one in some]
    scopes: dict[str, tuple[Requirement, str]] = {}
    for scope, requirements in (("required", project["dependencies"]), ("optional", extras)):
        for requirement in map(Requirement, requirements):
            if requirement.name != "vecveil":
                scopes.setdefault(normalize(requirement.name), (requirement, scope))
    parts = [
        {
            **_describe(name, locked[name]),
            "scope": scope,
            "properties": [{"name": "vecveil:requirement", "value": str(requirement)}],
        }
        for name, (requirement, scope) in sorted(scopes.items())
    ]
    whole = {**_describe("vecveil", project["version"]), "licenses": [{"license": {"id": project["license"]}}]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": whole},
        "components": parts,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def read_versions() -> dict[str, str]:
    """Return the locked version of every distribution, by its normalized name."""
    lines = [line for name in ("dev.txt", "torch.txt") for line in (FOLDER / name).read_text().splitlines()]
    found = (re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", line) for line in lines)
    return {normalize(one[1]): one[2] for one in found if one}


def normalize(name: str) -> str:
    """Return a name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _describe(name: str, version: str) -> dict[str, Any]:
    address = f"pkg:pypi/{name}@{version}"
    return {"type": "library", "name": name, "version": version, "purl": address, "bom-ref": address}


if __name__ == "__main__":
    main()
