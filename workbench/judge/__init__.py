"""Floor 1, judgement: from sessions to words; pure, so that every verdict can be recomputed.

fold           exchanges to trials to counts, in assignment order
reference      how often the control fails, and what a test bets on
jury           one judgement a comparison after each block
others         what the same blocks show of other symptoms; it decides nothing
docket         the steps of a run, for those who drive it and those who recompute it
continuation   runs of one test as one process: its digest, and the blocks that are carried over
guards         what makes a run invalid whatever its counts say
by_hand        what the rules say of counts that somebody brings along
claims         who works on which suspect
states         where a hypothesis stands, from the event log alone
interventions  where a change stands: what was noted, held against what git sees
confirming     removed, put back, its path run through: what `confirmed` takes
patterns       which arms fail, by what each suspect says
matrix         every run against every suspect: what tells whom apart
flips          single changes that would change a state
next           which test would tell most a minute; alone beside what judges runs in needing numpy
discoveries    which effects of a campaign survive that many tests were made
"""
