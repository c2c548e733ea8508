"""Files of rows: CSV, Excel, Parquet and Arrow, read by their suffix."""
