"""The command line: files named after their commands, and what commands share to read tables and to write results."""
