"""Memories in and out: reading files of records, and taking them into a store.

``reading`` recognises what a file is and yields its records, ``incoming`` turns one of them into a
record document, ``importer`` decides and commits in batches.
"""
