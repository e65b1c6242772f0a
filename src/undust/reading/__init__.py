"""Bytes to observations: the formats, and the content of pages."""
