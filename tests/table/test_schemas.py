"""Columns, watermarks and keys of tables, beyond what PyFlink's own functions answer."""

from __future__ import annotations

import pytest

from pyflow.common import Configuration
from pyflow.table import DataTypes, Schema
from pyflow.table.catalog import (
    CatalogColumnStatistics,
    CatalogDescriptor,
    Column,
    Constraint,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from pyflow.util.exceptions import TableException


class Later:
    """An expression as it is after resolution."""

    def get_output_data_type(self):
        return DataTypes.TIMESTAMP(3)

    def as_summary_string(self):
        return "ts + 1"

    def __str__(self):
        return self.as_summary_string()


@pytest.fixture
def resolved():
    return ResolvedSchema(
        [
            Column.physical("id", DataTypes.INT(False)).with_comment("it's"),
            Column.computed("later", Later()),
            Column.metadata("topic", DataTypes.STRING(), None, True),
        ],
        [WatermarkSpec.of("later", Later())],
        UniqueConstraint.primary_key("key", ["id"]),
    )


def test_resolved_schemas_are_declared_again(resolved):
    declared = Schema.new_builder().from_resolved_schema(resolved).build()

    assert str(declared) == (
        "(\n"
        "  `id` INT NOT NULL COMMENT 'it''s',\n"
        "  `later` AS ts + 1,\n"
        "  `topic` STRING METADATA VIRTUAL,\n"
        "  WATERMARK FOR `later` AS ts + 1,\n"
        "  CONSTRAINT `key` PRIMARY KEY (`id`) NOT ENFORCED\n"
        ")"
    )
    assert [column.name for column in declared.columns] == ["id", "later", "topic"]


def test_computed_columns_say_how(resolved):
    column = resolved.get_column("later")

    assert not column.is_physical()
    assert not column.is_persisted()
    assert column.explain_extras() == "AS ts + 1"
    assert isinstance(column.get_expression(), Later)
    assert resolved.get_column_data_types()[1] == DataTypes.TIMESTAMP(3)
    assert resolved.to_sink_row_data_type().field_names() == ["id"]


def test_watermarks_say_how(resolved):
    (watermark,) = resolved.get_watermark_specs()

    assert watermark.get_rowtime_attribute() == "later"
    assert isinstance(watermark.get_watermark_expression(), Later)
    assert str(watermark) == "WATERMARK FOR `later`: TIMESTAMP(3) AS ts + 1"
    assert watermark == WatermarkSpec.of("later", Later())
    assert hash(watermark) == hash(WatermarkSpec.of("later", Later()))


def test_columns_are_changed_by_copies():
    column = Column.physical("a", DataTypes.INT())

    assert column.rename("b").get_name() == "b"
    assert column.copy(DataTypes.STRING()).get_data_type() == DataTypes.STRING()
    assert column.with_comment("c").get_comment() == "c"
    assert str(column) == "`a` INT"
    assert column != Column.metadata("a", DataTypes.INT(), None, False)


def test_keys_are_equal_by_value():
    key = UniqueConstraint.primary_key("key", ["a"])

    assert key == UniqueConstraint.primary_key("key", ["a"])
    assert hash(key) == hash(UniqueConstraint.primary_key("key", ["a"]))
    assert key != UniqueConstraint.primary_key("key", ["b"])
    assert key.get_type() is Constraint.ConstraintType.PRIMARY_KEY
    assert key.get_name() == "key"


def test_schemas_have_types_for_texts():
    schema = Schema.new_builder().column("a", "INT").column_by_metadata("b", "TIMESTAMP(3)").build()

    assert [column.data_type for column in schema.columns] == [
        DataTypes.INT(),
        DataTypes.TIMESTAMP(3),
    ]
    with pytest.raises(TableException, match="'INTT' at column 1"):
        Schema.new_builder().column("a", "INTT")


def test_columns_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match="1 columns have 0 types"):
        ResolvedSchema.physical(["a"], [])


def test_catalogs_and_figures_are_described():
    statistics = CatalogColumnStatistics({"a": 5}, {"k": "v"}).copy()
    assert statistics.get_column_statistics_data() == {"a": 5}
    assert statistics.get_properties() == {"k": "v"}
    assert CatalogDescriptor.of("c", Configuration(), "x").comment == "x"
    with pytest.raises(TableException, match="needs a name"):
        CatalogDescriptor.of("", Configuration())
