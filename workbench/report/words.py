"""What every word of the workbench means, for `workbench explain WORD`.

One word has one meaning, here, in the code, in files and on the screen.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

VERDICTS = {
    "present": (
        "The control fails more often than the treatment: what differs between the arms matters."
        " It says nothing of how much; read the interval."
    ),
    "present-but-small": (
        "The control fails more often than the treatment, but by less than the margin: the treatment"
        " removes less than half of the failures. Something else causes the rest."
    ),
    "falsified": (
        "The symptom was there, and the treatment removes less than half of it: the suspect is not"
        " needed on this base. One of two alternative causes looks like this too, so it is ruled out"
        " for this base only. As the state of a hypothesis: all evidence that counts is against it."
    ),
    "prediction-refuted": (
        "The treatment was said to remove the symptom, and it still fails: the claim as stated is"
        " wrong. The cheapest way to lose a suspect."
    ),
    "not-reproduced": (
        "The control did not show the symptom often enough for a comparison to mean anything. This is"
        " a failed reproduction, never proof that the suspect is harmless."
    ),
    "inconclusive": (
        "The budget was used up before a word could fall (reason: budget), or the word would depend on"
        " what the errored sessions might have shown (reason: errors). As the state of a hypothesis: it"
        " has runs, and none of them speaks for or against it."
    ),
    "invalid": (
        "A guard tripped: something other than what was asked has been tested. The counts are kept and"
        " count for nothing."
    ),
}

STATES = {
    "open": "No evidence that counts bears on the hypothesis.",
    "supported": "All evidence that counts is for the hypothesis. That is not yet a cause shown.",
    "confirmed": (
        "The cause was removed and put back, its path still running. (a) A run removed it, `present`"
        " with its prediction held; (b) a later run put it back into the fixed system, `present` again;"
        " (c) its path was counted in both arms of both, so the mechanism still ran when the symptom"
        " was gone. Nothing that counts is against it. No ruling can say so, and what is not on record"
        " confirms nothing."
    ),
    "contested": "Evidence that counts is on both sides.",
    "overturned": "Only evidence against it counts, and it was supported or confirmed before.",
    "superseded": "A ruling names another hypothesis that takes its place.",
    "reopened": "Somebody wants it looked at again; its evidence and its state stay as they are.",
}

GRADES = {
    "argued": "An explanation that fits, in words. It counts only as long as no run has spoken.",
    "read": "Seen in code, at a commit, path and line. It counts only as long as no run has spoken.",
    "observed": "Seen in one arm, or a fix that was deployed and changed nothing.",
    "compared": "Two arms that differ in the suspect, judged by the rules.",
    "intervened": "The cause was removed and put back, in a run of its own each time.",
}

ROLES = {
    "cause": "What brings the symptom about.",
    "contributing": "Needed here, together with something else.",
    "amplifier": "It makes the symptom more frequent, and it is there without it.",
    "exposer": "It only shows what something else does.",
    "not-a-defect": "It works as it should; what looked like a fault is none.",
}

STATUSES = {
    "hit": "A session that showed the symptom in at least one turn.",
    "clean": "A session that ended well without the symptom.",
    "errored": (
        "A session with a time-out, a transport fault or a failure that the symptom does not claim."
        " It is never counted as clean: a word must hold whatever it might have shown."
    ),
    "incomplete": "A session without an observation: exit code 125, or ended from outside by a signal.",
}

NUMBERS = {
    "evidence": (
        "An e-value: how strongly the counts speak against a claim. 1 says nothing, 100 is needed at"
        " alpha 0.01. While the claim is true it exceeds 100 with probability at most 1 %, however"
        " often one looks and whenever one stops."
    ),
    "interval": (
        "All differences between the rates (control minus treatment) that the counts do not reject;"
        " valid at every look, at 1 % a side."
    ),
    "margin": (
        "The effect that matters. By default half of the control's own rate: `falsified` then means"
        " that the treatment removes less than half of the failures."
    ),
    "floor": (
        "A quarter of the reference rate. A control that fails less often has not reproduced the"
        " symptom."
    ),
    "reference": (
        "How often the control is known to fail. Predicted, or sampled first until 5 hits or 200"
        " trials; sampled trials set the reference and are otherwise not judged."
    ),
    "design effect": (
        "What counts are divided by because sessions of one engine start fail together. 1 for a"
        " command, where every trial is a start of its own."
    ),
    "alpha": "Greatest probability of a false word, each side: 0.01.",
}

NOUNS = {
    "control": "The arm predicted to show the symptom: the suspect as found.",
    "treatment": "The arm with the suspect removed or fixed.",
    "arm": "Named settings. A comparison has two: control and treatment.",
    "block": "One start per arm, in random order; a verdict is looked at when a block is complete.",
    "trial": "One independent unit: a session, or one execution of a command. Never a turn.",
    "session": "A conversation of one or more turns; its turns fail together, so it counts once.",
    "symptom": "An observable failure class. Symptoms are never pooled.",
    "prediction": (
        "What a hypothesis says will happen, stated before the run: `C:T` are the rates of control and"
        " treatment, `removes` says that the treatment removes the symptom altogether."
    ),
    "held": "The treatment keeps less than half of the control's rate, as predicted (evidence 10).",
    "refuted": "The treatment fails although it was predicted to remove the symptom.",
    "untested": "The counts say neither that the prediction held nor that it is refuted.",
    "guard": "A check of what was really run; one that trips makes the run invalid.",
    "readback": "How one knows that a setting took effect: where to look, and what is due there.",
    "exposure": "Proof that the suspect's path was exercised: a metric or lines of a log, counted.",
    "put-back": (
        "A run in which the cause is put back into the fixed system. Its control is the fixed setting"
        " with the cause in it again, its treatment the fixed setting: `workbench test ID --put-back`."
        " It never goes on from an earlier run."
    ),
    "matrix": (
        "Evidence in rows, suspects in columns: does what was found fit what a suspect says by"
        " `fails_when`? `workbench matrix`."
    ),
    "pattern": (
        "What a suspect says of a run: whether its control fails, and whether its treatment does. Known"
        " only where both arms say how every knob of `fails_when` stands."
    ),
    "diagnostic": (
        "Of a run: two live suspects have other patterns on it, so that it can tell them apart. With 0"
        " diagnostic A/Bs all that was found fits all suspects, however strong the evidence is."
    ),
    "flip": (
        "A single change that would change the state of a suspect: an item struck, an assumption false,"
        " a verdict of its test or of its put-back run. `workbench show ID` lists them."
    ),
    "bits": (
        "How much the outcome of a test would tell of the suspects: 0 where all say the same of it, 1"
        " where two equal halves disagree. `workbench next` ranks tests by bits a minute."
    ),
    "share": (
        "How likely a suspect is by the counts of all runs, among all of its symptom and none of them."
        " It ranks tests and sets no state."
    ),
    "sufficiency": (
        "Of a test: a cause alone, put into settings that were found clean. It tells whether one of two"
        " alternative causes is enough, which removing it cannot."
    ),
    "claim": (
        "Somebody's word that they work on a suspect, until a time: `workbench claim ID`. Nobody else"
        " can claim it meanwhile, and no test is stopped by it."
    ),
    "reset": "What lay between two starts: a new process, or what was flushed. It is on record.",
    "fingerprint": "What was really running: code, configuration, environment, read back and compared.",
    "start": "One start of an engine for one arm; its sessions are a cluster.",
    "crashed": "A command ended by SEGV, ABRT, BUS, FPE or ILL: a hit with a label of its own.",
    "other": "A failure that the symptom does not claim; listed by signature, never pooled with hits.",
    "skipped": "A command that exited with 125: no observation.",
    "killed": "A command ended from outside by a signal: no observation.",
    "timeout": "A session that did not end in time: errored, unless the symptom claims it.",
    "campaign": "One investigation: symptoms, engines, workloads, knobs, suspects, and one log.",
    "hypothesis": "A claimed cause, with a prediction written before any run, and its test.",
    "knob": "Something settable, with levels; a setting is a knob at a level.",
    "workload": "What is sent: sessions an arm and block, and how many at the same time.",
    "ruling": (
        "A decision with a name and a reason. It strikes evidence, sets a role, or names what replaces"
        " a hypothesis; it adds no evidence and confirms nothing."
    ),
    "self-ruled": "A ruling by the one who proposed the hypothesis.",
    "digest": (
        "What one test really tests, as one number: arms, workload, symptom, prediction, margin, code."
        " Runs of one digest are one process: a later one begins with the blocks of those before."
    ),
    "base": "What both arms share: the settings of an arm without the knob that is tested.",
    "renumbered": "Two files had one id after a merge; one has another now, with its events and runs.",
    "A/A": "Two equal arms. It shows how often noise alone looks like an effect.",
    "seed": "Fixes the order of arms and the seed of every session.",
}

GUARDS = {
    "changed-while-running": "What an arm runs, or how it is set, changed between two of its starts.",
    "same-config": (
        "Nothing that was read back of the two arms differs: the knob had no effect, or nobody can see"
        " that it had one. Give it a readback that shows it."
    ),
    "readback-differs": "A setting was asked for and another read back: it never took effect.",
    "differs-elsewhere": (
        "The arms differ in more than the varied knob and what it says it `moves`, so nobody can say"
        " what made the difference."
    ),
    "exposure-not-reached": (
        "The suspect's path was not exercised as much as its test asks: the counts say nothing of it."
    ),
    "older-than-its-files": "The process began before its files were last changed: it runs other code.",
    "restarted": "Somebody else restarted the engine while it was being tested.",
    "foreign-traffic": (
        "The server had more requests than this run sent. Keep others away, or say that they do not"
        " matter by `allow_foreign: true` of the engine."
    ),
    "client-bottleneck": "The client could not keep up: the load was not the one asked for.",
    "load-not-reached": "The server saw fewer requests in flight than were asked for.",
}

COMMITS = {
    "intervention": "A change made because of a hypothesis: fix, mitigation, instrument, revert.",
    "fix": "A commit that is to remove the symptom.",
    "mitigation": "A commit that is to keep the symptom away without removing its cause.",
    "instrument": "A commit that is there to see something: counters, logs, probes.",
    "planned": "A change that is not made yet, or is not part of this history.",
    "live": "What a change did is in the tree, by its lines; one that was edited further still is.",
    "dead": (
        "A change that is still in the tree, at least in part, although its hypothesis has fallen. Once"
        " it is taken back it reads `dead fix, reverted by SHA`."
    ),
    "reverted": (
        "A change that was taken back, by its lines. `workbench commits -v` says by whom, with all"
        " clues: a title, a number, the same change turned round, the same lines."
    ),
    "partly": "Some of a change is in the tree and some of it was taken back.",
    "absent": "A commit that is not part of this history, and neither is a cherry-pick of it.",
    "unknown": "What is needed to tell is not there, or was rewritten; the reason stands beside it.",
    "fixed": "Effect of a change: the symptom is gone.",
    "reduced": "Effect of a change: the symptom is rarer.",
    "guarded": "Effect of a change: the symptom is kept away, and its cause is still there.",
    "none": "Effect of a change: the symptom is as frequent as before.",
    "unmeasured": "Nobody has noted what a change did to the symptom.",
    "revert": "A commit that takes back an earlier one; what it takes back is found by content.",
    "reland": "A commit that makes a change again that was taken back.",
    "patch-id": "A number for what a change does, wherever it is made; a revert has it turned round.",
    "coverage": "Share of a commit's lines that a later one takes back, or makes again.",
    "probe": (
        "A line that is only there to see something. A tag names the hypothesis that it serves:"
        " `WB-PROBE H5`. `workbench commits --check` lists those that were left."
    ),
    "left over": (
        "A probe, or a suspicious line that was added. It prints, stops, waits or asks for a debug"
        " flag, and was not there before the first linked commit."
    ),
}

_PARTS = {
    "verdicts of a run": VERDICTS,
    "states of a hypothesis": STATES,
    "grades of evidence": GRADES,
    "roles": ROLES,
    "statuses of a session": STATUSES,
    "numbers": NUMBERS,
    "guards": GUARDS,
    "commits": COMMITS,
    "other words": NOUNS,
}
GLOSSARY = {word: text for part in _PARTS.values() for word, text in part.items()}


def meaning(word: str) -> str | None:
    """Give the meaning of a word, whatever its case; None if it has none here."""
    by_folded = {name.casefold(): text for name, text in GLOSSARY.items()}
    return by_folded.get(word.casefold().replace("_", "-"), by_folded.get(word.casefold()))


def near(word: str) -> list[str]:
    """Give the known words that look like a word, nearest first."""
    return difflib.get_close_matches(word, GLOSSARY, n=3)


def hint(word: str) -> str:
    """Say what to do about a word that is none, one line."""
    found = near(word)
    if found:
        return f"did you mean {' or '.join(found)}?"
    return "`workbench explain` lists all words; a run is a folder or an id"


def listing() -> Iterator[str]:
    """Yield all words with the first sentence of their meaning."""
    for title, part in _PARTS.items():
        yield f"{title}:"
        for word, text in part.items():
            first = text.partition(". ")[0].rstrip(".")
            yield f"  {word:<19} {first}"
        yield ""
    yield "`workbench explain WORD` says more."
