r"""DSML, the markup of DeepSeek V3.2 and V4, by code point: its bars are U+FF5C, its spaces U+2581.

    <|DSML|tool_calls>                                        V3.2 says function_calls
    <|DSML|invoke name="book">
    <|DSML|parameter name="item" string="true">amber</|DSML|parameter>
    </|DSML|invoke>
    </|DSML|tool_calls>

A parameter is text with `string="true"`, JSON otherwise; one JSON object may stand for all parameters.
In V3.2 the token `|DSML|` may be missing, of an opening and of its closing tag each for itself. In the
wild bars are doubled, U+2016 or ASCII, and `tool_calls` loses its underscore: no parser takes those for
calls, so they are traces, wherever they stand.
"""

from __future__ import annotations

import json
import re

from workbench.classifiers.markup import Family, Inside
from workbench.classifiers.reply import BAD_JSON, Call, read_json

BAR = "\uff5c"
SPACE = "\u2581"
_WIDE = "[\uff5c\u2016\u2225]"  # none of them is written by hand
_ANY = "[|\uff5c\u2016\u2225]"

_TRACE = re.compile(
    rf"{_WIDE} ?DSML|DSML ?{_WIDE}|</?{_ANY}+ ?DSML|DSML ?{_ANY}+(?:tool|function|invoke|parameter)"
    r"|</?(?:tool|function)_?calls>|<invoke name=\"|</invoke>"
    r"|<parameter name=\"[^\"<>\n]{0,80}\" string=\"|\" string=\"(?:true|false)\">"
)
_CONTROL = re.compile(
    rf"<{_ANY}{{1,2}}[\w{SPACE} ]{{1,40}}{_ANY}{{1,2}}>|\w{SPACE}\w|</?think>|<unk>|</?tool_result>"
)


def _read_arguments(body: str, parameter: re.Pattern[str]) -> tuple[str, str]:
    """Give the arguments in the body of an invoke as JSON text, and what is wrong or nothing."""
    if body.lstrip().startswith("{"):
        return body.strip(), ""
    arguments: dict[str, object] = {}
    at = 0
    while found := parameter.match(body, at):
        at = found.end()
        value = found["value"] if found["string"] == "true" else read_json(found["value"])
        if value is BAD_JSON:
            return found["value"], ""  # told as arguments that are not JSON
        if found["name"] in arguments:
            return "", "a parameter comes twice"
        arguments[found["name"]] = value
    if body[at:].strip():
        return "", "an invoke holds more than parameters"
    return json.dumps(arguments), ""


def _family(name: str, block: str, token: str) -> Family:
    tag = f"</?{token}"
    invoke = re.compile(
        rf'\s*<{token}invoke name="(?P<name>[^"<>]+)">'
        rf"(?P<body>(?:(?!{tag}invoke\b).)*+)</{token}invoke>",
        re.DOTALL,
    )
    parameter = re.compile(
        rf'\s*<{token}parameter name="(?P<name>[^"<>]+)" string="(?P<string>true|false)">'
        rf"(?P<value>(?:(?!{tag}parameter\b).)*+)</{token}parameter>",
        re.DOTALL,
    )

    def inside(body: str) -> Inside:
        calls: list[Call] = []
        at = 0
        fault = ""
        while found := invoke.match(body, at):
            at = found.end()
            arguments, wrong = _read_arguments(found["body"], parameter)
            if wrong:
                fault = fault or wrong
            else:
                calls.append(Call(name=found["name"], arguments=arguments))
        if body[at:].strip():
            fault = fault or "a block holds more than invokes"
        return tuple(calls), fault or ("" if calls else "a block is empty")

    return Family(
        name=name,
        opener=re.compile(rf"<{token}{block}>"),
        closer=re.compile(rf"</{token}{block}>"),
        inside=inside,
        trace=_TRACE,
        control=_CONTROL,
    )


_TOKEN = f"{BAR}DSML{BAR}"
DEEPSEEK_V4 = _family("deepseek_v4", "tool_calls", _TOKEN)
DEEPSEEK_V32 = _family("deepseek_v32", "function_calls", f"(?:{_TOKEN})?")
