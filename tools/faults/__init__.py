"""Commands that write, ended in every bad way: `python -m tools.faults`."""
