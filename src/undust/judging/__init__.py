"""What rules do to pages, on data that no learner saw."""
