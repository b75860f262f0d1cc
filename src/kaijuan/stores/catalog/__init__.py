"""The catalog port over SQLAlchemy: `kaijuan.stores.catalog.sql:SqlCatalog`."""
