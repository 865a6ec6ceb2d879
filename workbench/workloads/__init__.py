"""Floor 3: what is sent to an arm. One module a workload.

command     execute the arm's command once a session
records     multi-turn sessions with known answers; drawn and judged here, sent elsewhere
simulated   the public test double
"""
