"""Bytes in and out: streams of any size, packing, files written whole or not at all, tables."""
