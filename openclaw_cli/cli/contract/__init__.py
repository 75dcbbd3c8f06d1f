"""What the JSON of every command holds: its types, and the JSON Schemas made of them.

The types are the contract. ``schemas/`` holds what they come to, committed so that a change of the
contract is seen; a new command is one entry in ``table.CONTRACTS`` and ``make schemas``.
"""
