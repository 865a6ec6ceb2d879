"""Floor 0: the nouns of the workbench as frozen dataclasses and enums; no I/O, no behaviour of note.

ids         run ids and the keys of sessions and exchanges
outcome     exchange, label, status of a trial, counts, symptom
prediction  what a hypothesis claims before any run
plan        arms, comparisons, rules, and the plan of a run
run         manifest, journal lines and fingerprints of a run on record
verdict     verdict words, e-values, judgement
progress    a run under way, as displays see it
relabelled  a run whose stored replies were labelled again
compared    two runs side by side
chronicle   what happened in runs and in the engine

campaign    `campaign.yaml`: symptoms, engines, workloads, knobs
hypothesis  a suspect as its file states it; problems in files
event       the event log: heads and bodies
standing    where a hypothesis stands: states, evidence, rulings
registry    a whole campaign at one moment
"""
