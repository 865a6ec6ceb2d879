"""What a repository says of the commits that a campaign is about: the only user of git.

git           the `git` command: argument lists, checked names, no hooks, no network, a deadline
repository    a repository: where it is, what it is, what a revision means, where it is on the web
history       commits, listed and read; which touched a path, which are between two
changes       what a commit changes, file by file, as lines taken out and lines put in
titles        what a message claims: reverts, relands, numbers of pull requests; pure
overlap       how much of one change another takes back; pure
index         titles and patch-ids of a whole history, kept on disk and extended from tip to tip
reverts       what reverted a commit, what a revert reverts, and how one can tell
standing      whether a change is still there, by content; what a checkout of its files would lose
probes        tagged and suspicious lines that a campaign has left in the tree
checkouts     worktrees of commits and patches, built once and kept
building      the command that builds one: no shell, a deadline, its output kept
code          what code lies in a folder: commit, changes to it, files that git does not know
bytecode      compiled Python that is not what its source says

A message is a claim and content is a fact: what a commit says that it does is one clue among others,
and where content contradicts it, content wins. What cannot be told is said to be unknown.
"""
