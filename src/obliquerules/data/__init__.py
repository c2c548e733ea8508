"""Where the data are: tables of any kind, read into blocks of rows."""
