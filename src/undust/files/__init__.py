"""Tables as files: what a record is in each format, and the same table written with one column changed.

The readers of `sources` and the commands that pass tables on share these definitions. Everything but
`parquet` works on bytes, without pyarrow, so that what is not the column's stays byte for byte.
"""
