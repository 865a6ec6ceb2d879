"""Floor 4: how a run is carried out.

plans        plans for test commands
schedule     what the seed fixes
executor     one arm of one block
books        every exchange on disk, then counted
experiment   the one loop over blocks
interrupt    Ctrl-C
clock        the real clock
"""
