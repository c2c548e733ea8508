"""The command line: one file for each command, and what they share to read tables, write files and speak."""
