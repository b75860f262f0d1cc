"""The blob store on disk keeps the port's promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaijuan.stores.blobs.disk import DiskBlobStore
from kaijuan.testing.contracts.blobs import BlobStoreContract


class TestDiskBlobStore(BlobStoreContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> DiskBlobStore:
        return DiskBlobStore(tmp_path / "blobs")
