"""Verbs that add and change suspects: new, edit, renumber."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from workbench.cli.arguments import (
    HYPOTHESIS,
    SETTINGS,
    by_option,
    fields,
    from_option,
    json_option,
    opened,
    writer,
)
from workbench.cli.options import PredictionType
from workbench.cli.output import lines, narrate, record
from workbench.model.prediction import Prediction
from workbench.report.text import inert

_NEW = """Add a hypothesis; print its id and its file. Nothing is asked back.

A title is enough to begin with. A test needs a prediction and the settings of two arms: as found, and
with the suspect removed. They can be given here, as YAML with --from, or written into the file later.

\b
Example:
  workbench new 'The cache serves stale pages' --predict 0.17:removes \\
    --control cache=on --treatment cache=off
  workbench new --from - --by bot:agent < suspect.yaml
"""

_EDIT = """Open the file of a hypothesis in $VISUAL or $EDITOR, and check it afterwards.

\b
Example:
  workbench edit H5
"""

_RENUMBER = """Give FILE another id, after a merge in which two files came with the same one.

Its events and runs go with it. No line of the log and no run is altered.

\b
Example:
  workbench renumber H7 hypotheses/H07-the-other-one.yaml
"""


@click.command("new", help=_NEW)
@click.argument("title", required=False)
@click.option("--parent", type=HYPOTHESIS, help="Hypothesis that it hangs under in the tree.")
@click.option("--symptom", metavar="NAME", help="What it is said to cause, where there are several.")
@click.option("--statement", metavar="TEXT", help="The mechanism in a few sentences.")
@click.option("--component", metavar="TEXT", help="Where in the system.")
@click.option("--predict", type=PredictionType(), help="Rates of the two arms, such as 0.17:removes.")
@click.option("--control", type=SETTINGS, help="The suspect as found: predicted to fail.")
@click.option("--treatment", type=SETTINGS, help="The suspect removed.")
@click.option("--workload", metavar="NAME", help="What is sent, where there are several.")
@click.option("--falsified-by", metavar="TEXT", help="What would speak against it.")
@from_option
@by_option
@json_option
def new(
    predict: Prediction | None,
    control: dict[str, str] | None,
    treatment: dict[str, str] | None,
    workload: str | None,
    origin: BinaryIO | None,
    by: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Add a hypothesis."""
    from workbench.campaign import writing

    campaign, who = writer(by)
    test = {"control": control, "treatment": treatment, "workload": workload}
    given["test"] = {name: value for name, value in test.items() if value is not None}
    given["prediction"] = _prediction(predict)
    said = fields(origin, given)
    id, file = writing.new(campaign, said, who)
    wrong = [str(problem) for problem in opened().files.problems if problem.file == file]
    if as_json:
        record({"id": id, "file": file, "problems": wrong})
    else:
        lines([f"{id} {file}"])
    for problem in wrong:
        narrate(f"warning: {inert(problem)}")
    missing = [name for name in ("prediction", "test") if name not in said]
    if missing:
        narrate(f"a run needs {' and '.join(missing)} first: workbench edit {id}")


@click.command("edit", help=_EDIT, epilog="Exit codes: 0; 2 the file has mistakes now.")
@click.argument("id", type=HYPOTHESIS)
@json_option
def edit(id: str, as_json: bool) -> int:
    """Open a file, then say what is wrong with it."""
    from workbench.campaign.checks import check

    campaign = opened()
    for file in campaign.files.files:
        if file.id == campaign.known(id):
            click.edit(filename=str(campaign.root / file.path))
            wrong = [problem for problem in check(opened()) if problem.file == file.path]
            if as_json:
                record({"id": file.id, "file": file.path, "problems": [str(each) for each in wrong]})
            else:
                lines(inert(str(problem)) for problem in wrong)
            return 2 if wrong else 0
    return 0


@click.command("renumber", help=_RENUMBER)
@click.argument("id", type=HYPOTHESIS)
@click.argument("file", type=click.Path())
@by_option
@json_option
def renumber(id: str, file: str, by: str | None, as_json: bool) -> None:
    """Give a file another id."""
    from workbench.campaign import writing

    campaign, who = writer(by)
    done, places = writing.renumber(campaign, id, file, who)
    if as_json:
        moved = {"events": list(done.events), "runs": list(done.runs)}
        moved["named_in"] = [str(place) for place in places]
        record({"from": done.was, "to": done.to, "file": done.file, **moved})
    else:
        lines([f"{done.to} {done.file}"])
    narrate(f"{len(done.events)} events and {len(done.runs)} runs go with it")
    for place in places:
        narrate(f"warning: {inert(str(place))}")


def _prediction(predict: Prediction | None) -> dict[str, Any]:
    """Give a prediction as the fields of a file."""
    if predict is None:
        return {}
    rates: dict[str, Any] = {} if predict.control is None else {"control": predict.control}
    claim = {"removes": True} if predict.removes else {"treatment": predict.treatment}
    return rates | claim
