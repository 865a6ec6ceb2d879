"""Commands of the workbench without the start of an interpreter.

Most of what a command costs in a test is not the command: an interpreter starts, and imports numpy,
scipy, pydantic and half of the workbench. So a server imports all that once (`server.py`) and forks for
each command; `client.py` asks it, and gives what `subprocess.run` would.

    client.py   asks for a command, gathers what it says, ends it at its deadline
    server.py   imports, forks, and tells how each command has ended

A command is a process of its own all the same: its pid, signals, exit code, folder, environment,
standard streams and end are real, and what it starts is started as ever. What it cannot show:

- an import that a command needs and does not make: all modules are there already;
- that a command is light (`tests/architecture` shows both, in fresh interpreters);
- what Python makes of its own variables and of the locale, and modules of what they read while they
  are imported, PATH among it: a command with others of these gets an interpreter of its own;
- a file in the command's folder that would be imported in place of a module;
- orders that depend on the seed of hashes, which all commands of one server share;
- what the kernel says of it to others: its command line and first environment are the server's.

Tests of kills, runs in the background, terminals and full disks start interpreters of their own.
"""
