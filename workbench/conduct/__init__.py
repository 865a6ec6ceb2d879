"""Floor 4: how a run is carried out.

plans        plans for test commands
tests        plans for the tests of hypotheses
symptoms     what a hit is, for the symptom tested and for those watched beside it
knobs        from the settings of an arm to what becomes of a launch
schedule     what the seed fixes
executor     one arm of one block
labelling    an exchange labelled for every symptom
books        every exchange on disk, then counted
experiment   the one loop over blocks
budget       whether one more block ends in time
earlier      earlier runs of the same test, found and recalled
findings     from a judgement to the verdict on record
interrupt    Ctrl-C
clock        the real clock
"""
