"""Rules in the languages of other systems, and rules read from them."""
