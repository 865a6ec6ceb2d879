"""Floor 5: what a run says to people and to programs; text and JSON values, no I/O.

words       the glossary
figures     numbers as people read them
sentences   one sentence a verdict, and the next command
record      the JSON line
explain     why a run got its word
"""
