"""The public verbs, one file each, loaded when called; the only folder where an engine meets the domain."""
