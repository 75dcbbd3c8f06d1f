"""How records and log become a new generation of the index."""
