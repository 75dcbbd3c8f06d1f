"""What is made from the command tree: completions of the shells, and manual pages.

==================  ==============================================================
``tree``            the commands with their options and what their values may be
``bash zsh fish``   the completion of one shell each
``roff``            plain text with a little markup to manual pages
``pages``           which pages there are, and what stands in each
``texts/``          what of the pages is written by hand
==================  ==============================================================

The files are committed, and a test compares them with what is made anew: ``make docs``.
"""
