"""Floor 2: run folders and campaigns. The only reader and writer of the workbench's files.

    runs        RunFolder: create, resume, append, close; the one owner of a run
    view        RunView: what anybody may read of a run, at any time
    find        lists run folders, and finds the one a user names
    journal     samples and events of a run, and the counts they give
    damage      what could not be read, by file and line

    lines       codec of samples and events      documents   codec of manifests and fingerprints
    jsonl       append-only sealed lines         atomic      whole files, replaced in one step
    groupsync   one sync for many lines          blobs       texts too long for a line
    tags        what JSON cannot hold            lock        one owner a run
    redact      secrets, in pure functions       private     the gate between records and the disk
    names       names that enter a path          disk        the system calls, as an object
    kernellock  a lock freed with its holder     layout      what lies where in a campaign
    tails       the end of a file that another process writes to
    faults      a double of `disk` that fails

Of a campaign, each imported by its own name:

    eventlog    EventLog: append to the log, read it  allocate   new hypotheses under free numbers
    eventlines  codec of its lines                    renumber   two files with one id after a merge
    eventorder  what follows what, and what is amiss  mentions   which hypotheses an event speaks of
    logtail     a log read as it grows                runindex   all runs as lines, from a cache
    loglock     the short lock of its writers

What people write is read by modules of their own names, for they load YAML and pydantic when a file has
changed, which nobody should pay for who only looks at runs:

    campaignfiles   a campaign's folder as people wrote it, and all that is wrong in it
    plainfile       files as bytes                  filecache   what was found, by content
    yamltext        strict YAML with places         scalars     what plain words stand for
    schema/         the shapes of the files         findings    what is wrong with a shape, in words
    validation      bytes to nouns and problems     known       the names that may be referred to
    references      do the files fit together?      pluginoptions   options of plug-ins
    drafts          a hypothesis file's first text  scaffold    a new campaign from `templates/`

What the store promises when a process is killed at any instruction, when the disk is full or broken,
and when the power is cut on a file system that keeps no order of writes:

    P1  A sample that was acknowledged is readable after `kill -9`; after a power cut, all but those of
        the last 50 ms are (and those that came while the disk was busy with the sync before).
    P2  At most the last line of a samples file is torn. It is detected and counted, and never parsed.
    P3  A manifest is the old one or the new one, never a mix.
    P4  A run without `finished` never counts as a verdict: the manifest says `running` until the owner
        closes it, and the next owner makes `crashed` of that.
    P5  Whole lines keep their keys, so a resume knows what is done: it neither repeats nor invents it.
    P6  No bad file or line hides another.
    P7  Two processes never own one run: the kernel holds the lock and frees it with its holder.

They are bought with an order: blobs before the lines that name them, samples before the manifest that
vouches for them, bytes before names. A short write is cut off again, or the next line would be glued to
it; a failed sync ends the file for this opening, because the kernel may have dropped what it covered.
"""

from workbench.store.damage import Damage
from workbench.store.find import Listed, find_run, holds_run, list_runs
from workbench.store.lock import current_owner, is_alive
from workbench.store.redact import allowed_environment, redact_argv, redact_mapping, redact_text
from workbench.store.runs import RunFolder, Writing, new_run_id
from workbench.store.view import RunView

__all__ = [
    "RunFolder",
    "RunView",
    "Writing",
    "Damage",
    "Listed",
    "find_run",
    "holds_run",
    "list_runs",
    "new_run_id",
    "current_owner",
    "is_alive",
    "allowed_environment",
    "redact_argv",
    "redact_mapping",
    "redact_text",
]
