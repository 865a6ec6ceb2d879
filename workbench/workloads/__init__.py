"""Floor 3: what is sent to an arm. One module a workload.

command     execute the arm's command once a session
simulated   the public test double
"""
