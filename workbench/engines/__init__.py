"""Floor 3: what brings an arm of the system under test up. One module a lifecycle.

command     a test command, started afresh for every trial
process     components of a server, started and ended here
attach      a server that runs already
simulated   the public test double

components  what `process` is to start: options, placeholders, ports
readiness   waiting until all components are ready
kept        one process that is up, under a warden
warden      a program of its own: ends all that descends from it when the workbench dies
files       which files an arm runs, and their digests
looking     what can be seen of a process from outside
logs        the end of a log
"""
