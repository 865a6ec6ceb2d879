"""Floor 5: the facade, and the only composition root: wires store, judgement, plug-ins and conductor.

    commands   A/B and measurement of plain commands, no campaign needed
    testing    the tests of hypotheses: begun, gone on with, judged anew, verified
    running    what every run goes through
    relabelling, comparing   runs that are over, looked at again
    chronicle    what happened in runs and in the engine, as it lies on the disk
    history, linking         what git says of linked commits; commits put on record

Faces call these functions and get snapshots; they never see a plug-in, a file or an event loop. Each
module is imported when it is needed, so that listing a campaign loads nothing that running one needs.
"""
