"""Text to vector: which embedding models there are, and the one that reads a given text.

``catalog`` lists and chooses models without loading any; ``onnx`` runs a local one; ``protocol``
is what every embedder offers. Importing this package loads neither numpy nor onnxruntime.
"""
