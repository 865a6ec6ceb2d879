"""Floor 6: the terminal interface, where a person lives during an investigation.

    app          the application: views by number, what all of them share, errors
    held         the campaign as it was read last, handed to every view
    following    a thread that reads it again when a file changes
    doing        what keys set in motion: tests as processes of their own, words on record

    views/       one screen each: tree, runs, run, commits, matrix, log; forms and questions
    widgets/     text that is inert, lists, one-line messages
    viewmodel/   what they show, as text and data: pure, and tested without a terminal

Text comes from `report/` where a verb of the command line says the same, so that both always agree.
Everything from files, engines, git and people enters a widget as plain text (`widgets/inert.py`): it is
never parsed as markup, and control characters are shown and not sent.

A run is a process of its own. Views only read what lies on the disk, so closing the interface ends no
run, and what a colleague or an agent appends shows within a second.
"""
