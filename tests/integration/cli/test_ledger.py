"""`vecveil ledger` on PostgreSQL: its unit tests once more, and passwords."""

from __future__ import annotations

from support.command_line import CommandLine, check_refusal
from support.postgres import PostgresServer
from unit.cli.test_ledger import *  # noqa: F403
from vecveil.ledger import open_ledger


def test_show_shows_no_password(run: CommandLine, postgres: PostgresServer) -> None:
    url = postgres.without_ledger()
    open_ledger(url).close()
    for options in ((), ("--json",)):
        outcome = run("ledger", "show", "--ledger", url, *options)
        assert outcome.code == 0
        assert postgres.password not in outcome.out + outcome.err
    check_refusal(
        run("ledger", "show", "--ledger", postgres.url(password="hunter" + "2")),
        "user and password",
        hidden=["hunter2"],
    )
