"""Candidate rules for a site: one file for each kind of difference; published methods in `papers`."""
