"""Write `pip freeze` with the hashes of an index, for `pip install --require-hashes`: lock.py < FREEZE > LOCK."""

from __future__ import annotations

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
PYTHONS = ("py3", "abi3", *(f"{kind}3{minor}" for kind in ("cp", "py") for minor in range(11, 15)))
PLATFORMS = re.compile(r"any|(manylinux|linux).*_(x86_64|aarch64)|macosx_.*_(arm64|universal2)")
LINK = re.compile(r'href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"')


def main() -> None:
    """Write one requirement per line of the input, each with the hashes of its files."""
    names = [line.strip() for line in sys.stdin if "==" in line]
    with ThreadPoolExecutor(8) as pool:
        for name, hashes in zip(names, pool.map(find_hashes, names), strict=True):
            if not hashes:
                sys.exit(f"{INDEX} has no file for {name}")
            sys.stdout.write(" \\\n".join([name, *(f"    --hash=sha256:{one}" for one in hashes)]) + "\n")


def find_hashes(requirement: str) -> list[str]:
    """Return the hashes of a release's wheels for the platforms above, or of its source where it has no wheels."""
    name, _, version = requirement.partition("==")
    page = Request(f"{INDEX}/{re.sub('[-_.]+', '-', name).lower()}/", headers={"Accept": "text/html"})  # noqa: S310
    with urlopen(page, timeout=60) as answer:  # noqa: S310
        files = dict(LINK.findall(answer.read().decode()))
    wheels = [digest for file, digest in files.items() if _is_wheel(file, Version(version))]
    return sorted(wheels or [digest for file, digest in files.items() if _is_source(file, Version(version))])


def _is_wheel(file: str, version: Version) -> bool:
    try:
        _, found, _, tags = parse_wheel_filename(file.replace("%2B", "+"))
    except (InvalidWheelFilename, InvalidVersion):
        return False
    fits = {(tag.interpreter in PYTHONS or tag.abi in PYTHONS) and PLATFORMS.fullmatch(tag.platform) for tag in tags}
    return found == version and any(fits)


def _is_source(file: str, version: Version) -> bool:
    try:
        return parse_sdist_filename(file)[1] == version
    except (InvalidSdistFilename, InvalidVersion):
        return False


if __name__ == "__main__":
    main()
