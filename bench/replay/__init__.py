"""Replays of labelled crawls: what a learner inside a crawl saves and loses."""
