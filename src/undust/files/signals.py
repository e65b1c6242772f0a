"""Signals, as far as a system has them."""

from __future__ import annotations

import signal

POLITE = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to end, and leave it time to clean up; Windows has no SIGHUP."""
HAS_TIMER = hasattr(signal, "setitimer")
"""Whether a signal can be sent to oneself after a while."""
