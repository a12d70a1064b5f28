"""Files and folders: what is read, what is written, and never by halves."""

from vecveil.artifacts.folder import Artifact, read_artifact, write_artifact
from vecveil.artifacts.output import ResumableOutput
from vecveil.artifacts.sources import Source, open_source

__all__ = ["Artifact", "ResumableOutput", "Source", "open_source", "read_artifact", "write_artifact"]
