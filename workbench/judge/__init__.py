"""Floor 1, judgement: from sessions to words; pure, so that every verdict can be recomputed.

fold           exchanges to trials to counts, in assignment order
reference      how often the control fails, and what a test bets on
jury           one judgement a comparison after each block
others         what the same blocks show of other symptoms; it decides nothing
docket         the steps of a run, for those who drive it and those who recompute it
continuation   runs of one test as one process: its digest, and the blocks that are carried over
guards         what makes a run invalid whatever its counts say
states         where a hypothesis stands, from the event log alone
interventions  where a change stands: what was noted, held against what git sees
discoveries    which effects of a campaign survive that many tests were made
"""
