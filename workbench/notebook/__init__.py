"""Floor 6: the workbench for notebooks and scripts, as `import workbench as wb`.

    campaign      Campaign: where it stands, its tree, tidy frames, what to test next
    hypothesis    Hypothesis: what it claims, what its test costs, and its test
    run           Run: what it found, its plots, what was not clean
    testing       a test in a process of its own, followed from here; `asked` is what it is told
    progress      how a run that is followed shows, in a notebook and without one
    drawing       plots by name
    shown         how all of these show themselves

Every object shows itself as plain text and as HTML that stands alone; nothing needs IPython. The
package is loaded when one of its names is first used: `import workbench` alone loads nothing.
"""

from workbench.notebook.campaign import Campaign, compare, open, relabel
from workbench.notebook.hypothesis import Hypothesis
from workbench.notebook.run import Run
from workbench.notebook.shown import Mermaid, Report

__all__ = ["Campaign", "Hypothesis", "Run", "Report", "Mermaid", "open", "compare", "relabel"]
