"""Floor 4: how a run is carried out.

plans        plans for test commands
tests        plans for the tests of hypotheses
symptoms     what a hit is, for the symptom tested and for those watched beside it
knobs        from the settings of an arm to what becomes of a launch
feasible     whether what an arm asks for can be had at all
pinning      commits and patches that a plan names, looked up once
sources      the code that arms are run from: checked out, built, looked at
settings     files that an arm needs changed, for as long as it is up
schedule     what the seed fixes
executor     one arm of one block
labelling    an exchange labelled for every symptom
books        every exchange on disk, then counted
loads        how hard an arm is driven
meter        the load as it was, on both sides
starts       each start looked at, put on record and guarded
readback     whether a setting took effect
codeback     whether what runs is what was checked out
experiment   the one loop over blocks
budget       whether one more block ends in time
earlier      earlier runs of the same test, found and recalled
findings     from a judgement to the verdict on record
measuring    plans for measurements
site         the engine and the workload that a plan means
interrupt    Ctrl-C
clock        the real clock
"""
