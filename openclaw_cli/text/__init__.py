"""What a text is made of: its language, its index terms, its size and its first sentences.

Pure functions over strings: nothing here touches a store, a clock or a configuration. The only
thing read is the package's own small n-gram table, and only when Latin text has to be told apart.
"""
