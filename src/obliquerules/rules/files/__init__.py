"""Model files: JSON documents written, read and checked."""
