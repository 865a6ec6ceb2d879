"""Floor 5: what runs and campaigns say to people and to programs; text and JSON values, no I/O.

words       the glossary
text        words and numbers as people read them; text from outside made safe to print
markdown    the same for Markdown and Mermaid
values      JSON values of the model's nouns

of a run
figures     numbers that are computed as they are written
sentences   one sentence a verdict, and the next command
record      the JSON line
explain     why a run got its word
others      other symptoms than the one that it tested
relabel     its stored replies labelled again
compare     two runs side by side

of a campaign, from a registry alone
registry    lists of hypotheses and runs
status      the campaign on one screen
show        one hypothesis with all that bears on it; `items` is its evidence
log         one line an event
tree        the falsification tree
ledger      the ledger: `headlines`, its first ten lines; `dossier`, a suspect's section
changes     commits that belong to a suspect, live or dead
commits     what git says of them; `commitrecords`, the same as JSON values
leftovers   probes and debug lines that were left in the code
suspects    what all of these look up, gathered once
reasons     why a suspect stands where it stands
steps       what to do next
"""
