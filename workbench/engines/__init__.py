"""Floor 3: what brings an arm of the system under test up. One module a lifecycle.

command     a test command, started afresh for every trial
simulated   the public test double
"""
