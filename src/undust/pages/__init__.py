"""Which URLs show one page."""
