"""The operations of tables, as relations of relations."""
