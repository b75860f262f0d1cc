"""The SQL catalog keeps the port's promises, in an SQLite file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan.stores.catalog.sql import SqlCatalog
from kaijuan.testing.contracts.catalog import CatalogContract


class TestSqliteCatalog(CatalogContract):
    @pytest.fixture
    async def catalog(self, tmp_path: Path) -> AsyncIterator[SqlCatalog]:
        catalog = SqlCatalog(tmp_path / "catalog.db")
        yield catalog
        await catalog.close()
