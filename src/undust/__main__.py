"""`python -m undust` is `undust`."""

from undust.cli import main

main(prog_name="undust")
