"""Chat messages to token ids; and the format of prompts that the model can answer.

The model is a copy head: it looks a key up among the records of its context and repeats the tool call
that stands there. All text is words of `vocabulary.txt` set apart by whitespace, line breaks included.

A **record** stands in a user's message:

    record KEY CALL end

`KEY` is two words of section `word`; no two records of a session share a key. `CALL` is a call in
DSML: the function's name from section `function`, two parameters named from section `parameter`, and
three words of section `word` as the value of each. In one piece, with no space but those inside a
value, it reads

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="book">
    <｜DSML｜parameter name="item" string="true">amber kelp lake</｜DSML｜parameter>
    <｜DSML｜parameter name="owner" string="true">mint fox rye</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

`render_call` writes a CALL. A record is 24 tokens, so a turn of 1,000 tokens holds about 41 of them.

A **question** is the end of the last user message:

    ask KEY

The **right answer** is that record's CALL, word for word, as the assistant's reply: 20 tokens and the
end of sentence, 21 in all, finish reason `stop`. Parsed, it is one tool call with the record's
function as `name`, `arguments` that map each parameter to its three words in the record's order, and
no content.

In the next turn the reply comes back as an assistant message, as `tool_calls` or as raw `content`;
then a user message follows with further records and the next question. Any record of the session may
be asked for, those of earlier turns too. The whole prompt is

    BOS (USER content | ASSISTANT content CALL EOS | TOOL_BEGIN content TOOL_END)* ASSISTANT
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .tokenizer import ASSISTANT, BOS, EOS, TOOL_BEGIN, TOOL_END, USER, get_tokenizer


def render_call(name: str, arguments: Mapping[str, str]) -> str:
    """Write a tool call in DSML, as records hold it and as the model says it."""
    parameters = "".join(
        f'<｜DSML｜parameter name="{key}" string="true">{value}</｜DSML｜parameter>'
        for key, value in arguments.items()
    )
    invoke = f'<｜DSML｜invoke name="{name}">{parameters}</｜DSML｜invoke>'
    return f"<｜DSML｜tool_calls>{invoke}</｜DSML｜tool_calls>"


def apply_chat_template(messages: Sequence[Mapping[str, Any]], limit: int | None = None) -> list[int]:
    """Render messages in the shape of the chat completions API, ending where the reply begins.

    Args:
        messages: Dicts with `role` (`system`, `user`, `assistant`, `tool`), `content` (text, a list of
            text parts, or None) and, for an assistant, `tool_calls`.
        limit: Tokens that the caller can use; rendering ends soon after there are more.

    Raises:
        ValueError: A role is unknown, or a message is malformed.
    """
    tokenizer = get_tokenizer()
    ids = [BOS]
    for message in messages:
        left = None if limit is None else limit - len(ids)
        if left is not None and left < 0:
            break
        text = tokenizer.encode(_text(message.get("content")), left)
        match message.get("role"):
            case "system" | "developer":
                ids += text
            case "user":
                ids += [USER, *text]
            case "assistant":
                ids += [ASSISTANT, *text]
                for call in message.get("tool_calls") or ():
                    ids += tokenizer.encode(_call(call), left)
                    if limit is not None and len(ids) > limit:
                        break
                ids.append(EOS)
            case "tool":
                ids += [TOOL_BEGIN, *text, TOOL_END]
            case role:
                raise ValueError(f"unknown role {role!r} in a message")
    return [*ids, ASSISTANT]


def _text(content: object) -> str:
    match content:
        case None:
            return ""
        case str():
            return content
        case list() if all(isinstance(part, dict) and part.get("type") == "text" for part in content):
            return " ".join(str(part.get("text", "")) for part in content)
        case _:
            raise ValueError("a message's content must be text or a list of text parts")


def _call(call: object) -> str:
    match call:
        case {"function": {"name": str(name), "arguments": str(arguments)}}:
            try:
                values = json.loads(arguments)
            except ValueError:
                raise ValueError("the arguments of a tool call must be a JSON object") from None
            if isinstance(values, dict):
                return render_call(name, {key: str(value) for key, value in values.items()})
    raise ValueError("a tool call needs a function with a name and its arguments as a JSON object")
