"""The public functions, one file each, where an engine meets the rest; and what commands need of files.

A command knows jobs, what shows their results, and errors. Streams and files are reached through here, rule
files through `rule_files`, and other systems through `exchange`.
"""

from undust.files.change import text_from_bytes
from undust.files.replacing import require_folder
from undust.files.streams import STANDARD, open_output, read_whole, require_readable
from undust.files.temporary import peak_memory_bytes

__all__ = [
    "STANDARD",
    "open_output",
    "peak_memory_bytes",
    "read_whole",
    "require_folder",
    "require_readable",
    "text_from_bytes",
]
