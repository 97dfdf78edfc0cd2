"""The tiny models are those of the models' own tests."""

from tests.models.conftest import _quiet, folder_of

__all__ = ["_quiet", "folder_of"]
