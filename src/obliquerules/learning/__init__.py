"""How rules are learned."""
