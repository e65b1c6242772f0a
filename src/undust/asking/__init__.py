"""Asking sites themselves: politely, safely, within bounds, and never twice for the same."""
