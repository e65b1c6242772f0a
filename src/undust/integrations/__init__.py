"""Rules inside other people's programs, one module a program; each is loaded by those who have it."""
