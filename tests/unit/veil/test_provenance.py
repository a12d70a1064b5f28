from __future__ import annotations

import json

from support.veils import made_veil
from vecveil.veil.provenance import Provenance, installed_versions


def test_only_installed_packages_have_versions() -> None:
    found = installed_versions()
    assert {"python", "numpy", "vecveil"} <= set(found)
    assert all(found.values())


def test_a_provenance_fits_json_and_comes_back() -> None:
    provenance = made_veil().provenance
    returned = Provenance(**json.loads(json.dumps(provenance.settings())))
    assert json.dumps(returned.settings()) == json.dumps(provenance.settings())
