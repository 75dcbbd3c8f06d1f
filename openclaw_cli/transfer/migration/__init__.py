"""Older formats become this one, and go back to what they were."""
