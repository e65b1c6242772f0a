"""What follows from rules without any data: chains, inverses, examples, and the check of a set."""
