"""Where the data are: rows made distinct, their columns in standard units."""
