from __future__ import annotations

from pathlib import Path

import pytest

from support.gateways import gateway_veil
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.service.clients import Clients
from vecveil.service.gateway import Gateway, Settings
from vecveil.service.server import serve
from vecveil.veil import Guard


def test_others_are_not_let_in_without_keys(tmp_path: Path) -> None:
    guard = Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new())
    gateway = Gateway.for_clients(Clients.everybody(), guard, Settings(upstream="http://x/v1"))
    with pytest.raises(InvalidInputError, match=r"0\.0\.0\.0 can be reached by others"):
        serve(gateway, host="0.0.0.0", port=0)  # noqa: S104
