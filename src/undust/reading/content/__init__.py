"""What a page declares about itself: its text, its signature, its sketch, where it points.

Crawl archives and live fetches hand over bytes and headers; what comes back is evidence in
the columns of an observation.
"""
