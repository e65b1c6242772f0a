"""What `tools/mutate.py` is made of: the faults, the tests that should see them, and the trial of one."""
