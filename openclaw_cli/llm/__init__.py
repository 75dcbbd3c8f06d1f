"""Language models that others serve: one client for OpenAI-compatible chat endpoints.

``client`` knows what is asked, when to ask again and what an answer must look like; ``transport``
moves bytes within a deadline; ``protocol`` is what they exchange. Nothing of the network is
imported before a call is made.
"""
