# Completion of openclaw(1) for bash, by its short name.
source "${BASH_SOURCE[0]%/*}/openclaw-cli"
