# Completion of openclaw(1) for fish, by its short name.
source (status dirname)/openclaw-cli.fish
