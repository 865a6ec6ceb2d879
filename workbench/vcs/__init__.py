"""What a repository says of the commits that a campaign is about: the only user of git.

git           the `git` command: argument lists, checked names, no hooks, no network, a deadline
repository    a repository: where it is, what it is, what a revision means, where it is on the web
history       commits, listed and read; which touched a path, which are between two
changes       what a commit changes, file by file, as lines taken out and lines put in
patches       what git prints of changes, read as it comes
titles        what a message claims: reverts, relands, numbers of pull requests; pure
overlap       how much of one change another takes back; pure
ancestry      which commits there are, and which can be reached from which
columns       facts of many commits, packed, and their file
patchids      ids of changes that are the same wherever they are made
index         titles, files and claims of a whole history, kept on disk and extended from tip to tip
suspects      which earlier commits a commit may take back, and which later ones may take it back
choosing      which of several suspects it is, or why that cannot be told; pure
finding       what one commit takes back
reverts       what reverted a commit, what a revert reverts, and how one can tell
entries       files as trees have them, and as a commit found and left them
scratch       merges tried on copies of files
presence      whether the change of one file is in another state of it
later         what was done to files after a commit, and what a checkout of their earlier state loses
filestanding  one file of a commit held against a tree
standing      whether a change is still there, by content; what a checkout of its files would lose
added         lines that were added between two states
suspicious    which lines look like somebody's probe, by the language of their file
probes        tagged and suspicious lines that a campaign has left in the tree
checkouts     worktrees of commits and patches, built once and kept
building      the command that builds one: no shell, a deadline, its output kept
code          what code lies in a folder: commit, changes to it, files that git does not know
bytecode      compiled Python that is not what its source says

A message is a claim and content is a fact: what a commit says that it does is one clue among others,
and where content contradicts it, content wins. What cannot be told is said to be unknown.
"""
