"""Where the data are: files, frames and arrays read into blocks, rows made distinct, columns in standard units."""
