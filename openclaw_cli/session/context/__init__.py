"""What an agent is told of a session: the messages chosen for a budget, in a provider's form."""
