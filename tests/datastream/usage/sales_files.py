"""Sales in files of CSV become files of Parquet."""

from pyflow.common import Duration, Row, Types, WatermarkStrategy
from pyflow.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
)
from pyflow.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflow.datastream.formats.parquet import ParquetBulkWriters
from pyflow.table import DataTypes

SALE = Types.ROW_NAMED(["id", "shop", "total"], [Types.INT(), Types.STRING(), Types.DOUBLE()])
WRITTEN = DataTypes.ROW(
    [
        DataTypes.FIELD("id", DataTypes.INT()),
        DataTypes.FIELD("shop", DataTypes.STRING()),
        DataTypes.FIELD("total", DataTypes.DOUBLE()),
    ]
)


def sale(row):
    return Row(id=row.id, shop=row.shop.strip().title(), total=row.count * row.price)


def build(env, incoming, written, is_bounded):
    schema = (
        CsvSchema.builder()
        .add_number_column("id", DataTypes.INT())
        .add_string_column("shop")
        .add_number_column("count", DataTypes.INT())
        .add_number_column("price", DataTypes.DOUBLE())
        .set_use_header()
        .build()
    )
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), incoming)
    if not is_bounded:
        source.monitor_continuously(Duration.of_millis(100))
    names = OutputFileConfig.builder().with_part_prefix("sales").with_part_suffix(".parquet")
    sink = (
        FileSink.for_bulk_format(written, ParquetBulkWriters.for_row_type(WRITTEN))
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_output_file_config(names.build())
        .build()
    )
    (
        env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "sales")
        .filter(lambda row: row.count > 0)
        .map(sale, output_type=SALE)
        .sink_to(sink)
    )
