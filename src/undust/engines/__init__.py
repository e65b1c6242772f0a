"""Where the work runs.

Sites are independent, so the whole job is one function mapped over sites. An engine reads files into a
table, brings the rows of a site together, calls the function once per site, and writes what
came out. Whichever engine does it, the answer is the same.
"""

from undust.engines.contract import SITE, Engine
from undust.engines.local import LocalEngine

__all__ = ["ENGINES", "SITE", "Engine", "LocalEngine"]

ENGINES = (LocalEngine,)
"""The engines, each a class that has the four verbs of `Engine`."""
