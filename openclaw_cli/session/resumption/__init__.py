"""How far a run has come, whether that fits the history, and how it goes on."""
