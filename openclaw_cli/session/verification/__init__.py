"""Is a session sound, and how is damage set aside without a whole message being lost?"""
