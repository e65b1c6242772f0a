"""Learns URL rewrite rules that send duplicate URLs to one canonical form."""

from undust.urls import normalize

__all__ = ["normalize"]
