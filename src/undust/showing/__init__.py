"""What people see: rules in words, tables, notebooks, the tree of a site, the report, the review."""
