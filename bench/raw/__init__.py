"""Evidence from raw pages: the shipped numbers, their fit, and how well pages are told apart."""
