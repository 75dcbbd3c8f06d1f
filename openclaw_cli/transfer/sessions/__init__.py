"""Sessions out to files and in from them."""
