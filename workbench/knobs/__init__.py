"""Floor 3: ways of setting something. One module a kind; each works a value into a launch.

env    a variable of the environment
flag   a flag on the command line
"""
