"""One module a command: ``command`` does it and returns a result, ``lines`` shows that to people.

A module also names ``EXAMPLES`` and the ``EXITS`` beside 0, 1 and 2 that its help lists.
"""
