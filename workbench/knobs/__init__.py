"""Floor 3: ways of setting something. One module a kind; each works a value into a launch.

env        a variable of the environment            flag      a flag on the command line
file       a value or a line of a file              request   a field of the body of every request
load       sessions in flight, and the like         endpoint  where the engine is spoken to
commit     a commit, checked out in a worktree      patch     changes laid over a commit
values     what several of them ask of a value
"""
