"""Reading a model: what can be said about its rules beyond the rules themselves."""
