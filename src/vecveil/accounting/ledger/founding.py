"""How a ledger begins: its salt, its name and its format, made once and read whenever it is opened."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from vecveil.accounting.ledger import statements
from vecveil.accounting.ledger.database import Database, Session
from vecveil.core.errors import ArtifactError, InvalidInputError

FORMAT = 1
"""Number of the newest format that this version reads and writes."""

SALT_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Founding:
    """What a ledger keeps of its beginning.

    Attributes:
        id: Name of the ledger; tells nothing.
        salt: What its digests are keyed with; stays inside.
    """

    id: str
    salt: bytes = field(repr=False)


def founded_session(database: Database, *, create: bool) -> Session:
    """Return a session on the ledger in `database`; make it where there is none, if that may be."""
    session = database.connect(create=create)
    try:
        founded = session.is_founded()
        if not founded and create:
            session.found(_entries())
            # Asked again, since that is what readies a session for a ledger that was not there before.
            founded = session.is_founded()
    except BaseException:
        session.close()
        raise
    if not founded:
        session.close()
        raise no_ledger(database.where)
    return session


def read_founding(session: Session, where: str) -> Founding:
    """Return how the ledger began, or raise unless this version can work with it."""
    entries = dict(session.rows(statements.META))
    number = entries.get("format", "")
    if not number.isdecimal() or not {"id", "salt"} <= set(entries):
        raise ArtifactError(f"{where} is damaged: it does not say what format it has; nothing was changed in it")
    if int(number) > FORMAT:
        raise ArtifactError(
            f"the ledger {where} has format {number}, this version knows up to {FORMAT}; install a newer vecveil"
        )
    return Founding(id=entries["id"], salt=bytes.fromhex(entries["salt"]))


def no_ledger(where: str) -> InvalidInputError:
    """Return the error for a ledger that is not there."""
    return InvalidInputError(f"there is no ledger {where}; it is made when the first release is recorded")


def not_a_ledger(where: str) -> ArtifactError:
    """Return the error for a place where something else lies."""
    return ArtifactError(f"{where} is not a ledger; nothing was changed in it. Name another place")


def _entries() -> dict[str, str]:
    return {
        "format": str(FORMAT),
        "id": secrets.token_hex(16),
        "salt": secrets.token_bytes(SALT_BYTES).hex(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
