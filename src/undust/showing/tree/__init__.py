"""The tree of URL patterns of a site, as people see it."""
