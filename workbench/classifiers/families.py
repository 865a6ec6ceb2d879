"""Markup of tool calls by family; another one is an entry here and, at most, a function of a few lines.

    deepseek_v4, deepseek_v32    DSML (`dsml.py`)
    kimi_k2                      <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}
    glm                          <tool_call>NAME, then pairs of <arg_key> and <arg_value>
    hermes                       <tool_call>{"name": ..., "arguments": {...}}; Qwen writes the same
    llama3                       {"name": ..., "parameters": {...}} as the whole reply

GLM and Hermes open alike and differ in what follows: a name or a brace. Each reads only its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from workbench.classifiers.dsml import DEEPSEEK_V4, DEEPSEEK_V32
from workbench.classifiers.markup import Family, Inside
from workbench.classifiers.reply import BAD_JSON, Call, read_json

_KIMI = re.compile(
    r"\s*<\|tool_call_begin\|>\s*(?:functions\.)?(?P<name>[^\s<>:|]+):\d+\s*"
    r"<\|tool_call_argument_begin\|>(?P<arguments>.*?)<\|tool_call_end\|>",
    re.DOTALL,
)
_PAIR = re.compile(
    r"(?:\s|\\n)*<arg_key>(?P<name>[^<>]+)</arg_key>(?:\s|\\n)*<arg_value>(?P<value>.*?)</arg_value>",
    re.DOTALL,
)
_NAME = re.compile(r"(?:\s|\\n)*(?P<name>[\w.-]+)(?=\s|\\n|<|$)")
_SPECIAL = r"<\|[a-z_0-9]{2,40}\|>|</?think>"


def _kimi(body: str) -> Inside:
    calls: list[Call] = []
    at = 0
    while found := _KIMI.match(body, at):
        at = found.end()
        calls.append(Call(name=found["name"], arguments=found["arguments"].strip()))
    if body[at:].strip():
        return tuple(calls), "a block holds more than calls"
    return tuple(calls), "" if calls else "a block is empty"


def _glm(body: str) -> Inside:
    named = _NAME.match(body)
    if named is None:
        return (), "a call has no name" if body.strip() else "a block is empty"
    arguments: dict[str, object] = {}
    at = named.end()
    while found := _PAIR.match(body, at):
        at = found.end()
        value = read_json(found["value"])
        arguments[found["name"].strip()] = found["value"] if value is BAD_JSON else value
    if body[at:].replace("\\n", "").strip():
        return (), "a call holds more than pairs"
    return (Call(name=named["name"], arguments=json.dumps(arguments)),), ""


def _objects(key: str) -> re.Pattern[str]:
    """Give what tells an object that is a call from any other."""
    return re.compile(rf'\s*\{{\s*"name"\s*:\s*"(?P<name>[^"\\]*)"\s*,\s*"{key}"\s*:\s*')


def _object(body: str, key: str) -> Inside:
    made = read_json(body)
    if isinstance(made, Mapping) and isinstance(made.get("name"), str):
        arguments = made.get(key)
        if isinstance(arguments, str):  # some write the arguments as text once more
            return (Call(name=made["name"], arguments=arguments),), ""
        return (Call(name=made["name"], arguments=json.dumps(arguments)),), ""
    if begun := _objects(key).match(body):  # a call whose JSON is broken is one all the same
        return (Call(name=begun["name"], arguments=body[begun.end() :].strip()),), ""
    return (), "a call that is no object with a name" if body.strip() else "a block is empty"


KIMI_K2 = Family(
    name="kimi_k2",
    opener=re.compile(r"<\|tool_calls_section_begin\|>"),
    closer=re.compile(r"<\|tool_calls_section_end\|>"),
    inside=_kimi,
    trace=re.compile(
        r"<\|tool_calls?_(?:section_|argument_)?(?:begin|end)\|>|functions\.[\w.-]+:\d+\s*(?=<\|)"
    ),
    control=re.compile(r"<\|(?:im_\w+|[a-z_0-9]{2,40})\|>|\[(?:BOS|EOS|EOT|UNK|PAD)\]|</?think>"),
)
_TAGGED = r"</?tool_call>|</?arg_(?:key|value)>|</?tool_response>"
GLM = Family(
    name="glm",
    opener=re.compile(r"<tool_call>"),
    closer=re.compile(r"</tool_call>"),
    inside=_glm,
    trace=re.compile(_TAGGED),
    control=re.compile(rf"{_SPECIAL}|\[gMASK\]|<sop>|<eop>"),
)
HERMES = Family(
    name="hermes",
    opener=re.compile(r"<tool_call>"),
    closer=re.compile(r"</tool_call>"),
    inside=lambda body: _object(body, "arguments"),
    trace=re.compile(_TAGGED),
    control=re.compile(_SPECIAL),
)
LLAMA3 = Family(
    name="llama3",
    opener=re.compile(r'\A\s*(?:<\|python_tag\|>\s*)?(?=\{\s*"name"\s*:)|<\|python_tag\|>'),
    closer=re.compile(r"<\|eo[mt]_id\|>|\Z"),
    inside=lambda body: _object(body, "parameters"),
    trace=re.compile(r'<\|python_tag\|>|\A\s*\{\s*"name"\s*:\s*"[^"\\]*"\s*,\s*"parameters"\s*:'),
    control=re.compile(_SPECIAL),
)

FAMILIES = {family.name: family for family in (DEEPSEEK_V4, DEEPSEEK_V32, KIMI_K2, GLM, HERMES, LLAMA3)}
