"""Tables, outputs, veils and keys on disk."""

from vecveil.files.folder import Artifact, read_artifact, write_artifact
from vecveil.files.output import ResumableOutput
from vecveil.files.sources import Source, open_source

__all__ = ["Artifact", "ResumableOutput", "Source", "open_source", "read_artifact", "write_artifact"]
