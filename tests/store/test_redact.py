"""Secrets stay off the disk; digests, paths, ids, words and numbers stay on it."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.examples import event, manifest, plan, sample
from workbench.model.ids import run_id
from workbench.model.outcome import Status
from workbench.model.plan import Arm, Part
from workbench.model.run import Fingerprint, RunState, Seen
from workbench.model.verdict import Guard
from workbench.store import (
    RunFolder,
    Writing,
    allowed_environment,
    redact_argv,
    redact_mapping,
    redact_text,
)
from workbench.store.redact import (
    REDACTED,
    known_secrets,
    looks_random,
    mask,
    secret_name,
    secrets_given,
)

KEY_BLOCK = """-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAA
BG5vbmUAAAAEbm9uZQ==
-----END OPENSSH PRIVATE KEY-----"""
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
FORMS = {  # a text with a secret, and the secret
    f"Authorization: Bearer {'ab12' * 5}": "ab12" * 5,
    "authorization: basic dXNlcjpwYXNz": "dXNlcjpwYXNz",
    f"key sk-{'a1B2' * 6} here": f"sk-{'a1B2' * 6}",
    f"ghp_{'a1B2' * 9}": f"ghp_{'a1B2' * 9}",
    f"github_pat_{'a1B2' * 9}": f"github_pat_{'a1B2' * 9}",
    "id AKIAIOSFODNN7EXAMPLE.": "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdef": "xoxb-123456789012-abcdef",
    f"see {KEY_BLOCK} there": KEY_BLOCK,
    KEY_BLOCK[:70]: KEY_BLOCK[:70],
    f"t={JWT};": JWT,
    "git clone https://ana:hunter2@example.org/x": "ana:hunter2",
}


@pytest.mark.parametrize(("text", "secret"), FORMS.items(), ids=range(len(FORMS)))
def test_fixed_forms_are_found_in_settings_and_in_replies(text: str, secret: str) -> None:
    assert secret not in redact_text(text)
    assert REDACTED in redact_text(text)
    masked = mask(text)
    assert secret not in masked
    assert masked == text.replace(secret, "*" * len(secret))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--api-key X1", "--api-key <redacted>"),
        ("--api-key=X1 --max-tokens 5", "--api-key=<redacted> --max-tokens 5"),
        ("--token 'a b' run", "--token '<redacted>' run"),
        ("API_KEY=X1 ./run.sh", "API_KEY=<redacted> ./run.sh"),
        ('{"api_key": "X1", "n": 3}', '{"api_key": "<redacted>", "n": 3}'),
        ("INPUT_TOKEN=abcd1234", "INPUT_TOKEN=<redacted>"),
        ("CACHED_TOKEN: abcd1234", "CACHED_TOKEN: <redacted>"),
        ("#cached-token: 12ab34", "#cached-token: <redacted>"),
        ("#api-token: 1234", "#api-token: <redacted>"),
        ("cached-token: 1234", "cached-token: <redacted>"),
        ("--password --verbose", "--password --verbose"),
        ("a token of thanks", "a token of thanks"),
        (
            "--max-tokens=64 --eos-token </s> --index-key bf16",
            "--max-tokens=64 --eos-token </s> --index-key bf16",
        ),
        ("--tokenizer-path /m --keyboard us", "--tokenizer-path /m --keyboard us"),
        ("--token-file /run/secrets/token", "--token-file /run/secrets/token"),
    ],
)
def test_values_after_secret_like_names_in_a_command_line(given: str, expected: str) -> None:
    assert redact_text(given) == expected
    assert redact_text(expected) == expected


def test_a_command_line_word_by_word() -> None:
    argv = [
        "./serve",
        "--api-key",
        "X1",
        "--max-tokens",
        "5",
        "--token=Y2",
        "-n",
        "3",
        "--password",
        "--fast",
    ]
    clean = [
        "./serve",
        "--api-key",
        REDACTED,
        "--max-tokens",
        "5",
        f"--token={REDACTED}",
        "-n",
        "3",
        "--password",
        "--fast",
    ]
    assert redact_argv(argv) == clean


NAMES = {
    True: "API_KEY apiKey AWS_SECRET_ACCESS_KEY PGPASSWORD --token HF_TOKEN db_pass client_secret "
    "SSH_PRIVATE_KEY API_KEY_PROD",
    False: "max_tokens MAX_TOKEN bytes_per_full_token index_k SGLANG_DSV4_BF16_INDEX_K key sort_key "
    "keys tokenizer PUBLIC_KEY TOKEN_FILE api_key_env "
    "eos_token compass monkey author key_dtype AWS_ACCESS_KEY_ID",
}


@pytest.mark.parametrize(
    ("name", "secret"), [(name, is_one) for is_one in NAMES for name in NAMES[is_one].split()]
)
def test_names_that_hold_secrets(name: str, secret: bool) -> None:
    assert secret_name(name) is secret


HARMLESS = [
    "0c16cace80c16cace80c16cace80c16cace80c16",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "E3B0C44298FC1C149AFBF4C8996FB924",
    "550e8400-e29b-41d4-a716-446655440000",
    "/home/ana/models/DeepSeek-V4-Flash-FP8-Instruct-2507/model-00001-of-00042.safetensors",
    "--enable-hierarchical-cache",
    "SGLANG_DSV4_BF16_INDEX_K=1",
    "tests/store/test_redact.py::test_names_that_hold_secrets[API_KEY-True]",
    "2026-11-29T15:12:00.250000Z",
    "3.14159265358979323846264338327950288",
    "123456789012345678901234567890",
    "antidisestablishmentarianism",
    "AbstractSingletonProxyFactoryBean",
    "libstdc++.so.6.0.32",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "user@example.org",
    "http://127.0.0.1:30000/v1?max_tokens=5",
    "Prefill batch. #new-seq: 2, #new-token: 512, #cached-token: 3840, token usage: 0.61",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_a_run_must_record_is_left_alone(text: str) -> None:
    assert redact_text(text) == text
    assert redact_mapping({"index_k": text}) == {"index_k": text}
    assert mask(text) == text


@given(st.datetimes().map(lambda at: at.replace(year=2026).astimezone()), st.integers(0, 2**40 - 1))
def test_run_ids_are_not_taken_for_secrets(at: object, bits: int) -> None:
    name = run_id(at, bits)  # type: ignore[arg-type]
    assert redact_text(name) == name
    assert redact_text(f"runs/{name}/manifest.json") == f"runs/{name}/manifest.json"


@given(
    st.from_regex(r"[0-9a-f]{7,64}", fullmatch=True)
    | st.integers().map(str)
    | st.from_regex(r"[a-z]{1,30}", fullmatch=True)
)
def test_digests_numbers_and_words_are_not_taken_for_secrets(text: str) -> None:
    assert redact_text(text) == text


def test_random_strings_are_taken_for_secrets() -> None:
    dice = random.Random(1)
    letters = string.ascii_letters + string.digits
    found = sum(looks_random("".join(dice.choices(letters, k=32))) for _ in range(1000))
    assert found >= 950


@given(
    st.text(max_size=60) | st.lists(st.sampled_from([*FORMS, "--token", "=", " ", "X1"])).map(" ".join)
)
def test_redacting_twice_changes_nothing_and_masking_keeps_lengths(text: str) -> None:
    once = redact_text(text, ("hunter2!",))
    assert redact_text(once, ("hunter2!",)) == once
    assert len(mask(text, ("hunter2!",))) == len(text)


HOSTILE = [
    "eyJ",
    "a.",
    "--a",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "://",
    "bearer ",
    "a=",
    "'",
    "x/",
    "aB1",
    "github_pat_",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_takes_no_longer_than_its_length_asks_for(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    begun = perf_counter()
    mask(text)
    redact_text(text)
    assert perf_counter() - begun < 10  # a search that starts anew at every character takes minutes


def test_replies_are_never_masked_for_looking_random() -> None:
    garble = "".join(random.Random(2).choices(string.ascii_letters + string.digits, k=400))
    assert mask(garble) == garble


def test_known_values_are_those_of_secret_like_variables() -> None:
    environ = {
        "MY_TOKEN": "correct horse",
        "OTHER_KEY": "correct horse battery",
        "PIN_TOKEN": "1",
        "HOME": "/home/ana/x",
    }
    assert known_secrets(environ) == ("correct horse battery", "correct horse")
    assert mask("a correct horse battery b", known_secrets(environ)) == f"a {'*' * 21} b"


def test_the_environment_is_recorded_by_name() -> None:
    environ = {
        "SGLANG_DSV4_BF16_INDEX_K": "1",
        "SGLANG_API_KEY": "X1",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "HOME": "/home/ana",
        "MODE": "fast",
        "VLLM_URL": "http://ana:pw@h/",
        "MY_TOKEN": "X1",
    }
    assert allowed_environment(environ, names=["MODE", "MY_TOKEN"]) == {
        "CUDA_VISIBLE_DEVICES": "0,1",
        "MODE": "fast",
        "SGLANG_DSV4_BF16_INDEX_K": "1",
        "VLLM_URL": "http://<redacted>@h/",
    }


def test_no_planted_secret_is_anywhere_in_a_run_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "planted-by-environment")
    planted = [
        *FORMS.values(),
        "planted-by-environment",
        "planted-by-flag",
        "planted-by-name",
        "aB3dE5fG7hJ9kL1mN3pQ5r",
    ]
    everything = "\n".join([*FORMS, "planted-by-environment"])
    given = f"./run --api-key planted-by-flag --password=planted-by-flag {planted[-1]} {everything}"
    options = {
        "argv": ["x", "--token", "planted-by-flag"],
        "env": {"X_API_KEY": "planted-by-name"},
        "deep": [{"a": given}],
    }
    secretive = replace(
        plan(),
        arms=(Arm(name="control", settings={"command": given, "token": "planted-by-name"}),),
        engine=Part(kind="c", options=options),
    )
    with RunFolder.create(tmp_path, manifest(plan=secretive), Writing()) as folder:
        folder.write_fingerprint(
            Fingerprint(arm="control", config={"flags": given, "api_key": "planted-by-name"}), 1
        )
        assert folder.as_recorded(folder.fingerprint("control", 1)) == folder.fingerprint("control", 1)
        folder.append_event(
            event(
                "arm_failed",
                why=given,
                env={"api_key": "planted-by-name"},
                argv=["--token", "planted-by-flag"],
            )
        )
        folder.append_sample(sample(0, text=everything))
        folder.append_sample(sample(1, text=everything + "x" * 70_000))
        quoting = replace(sample(2).label, rule=f"matched {everything}", signature=everything)
        told = replace(sample(2).exchange, detail=everything, earlier=(everything,), finish=everything)
        others = {"wedged": Seen(label=quoting, status=Status.ERRORED)}
        folder.append_sample(replace(sample(2), exchange=told, label=quoting, others=others))
        folder.replace_manifest(
            why=f"could not start: {given}",
            guards=(Guard(name="g", detail=given),),
            versions={"engine": given},
        )
        folder.close(RunState.FINISHED)
    files = [path for path in folder.path.rglob("*") if path.is_file()]
    assert len(files) == 6  # manifest, samples, events, fingerprint, blob, lock
    for path in files:
        data = path.read_bytes()
        for secret in planted:
            assert secret.encode() not in data, (path.name, secret)
            assert secret.replace("\n", "\\n").encode() not in data, (path.name, secret)
    assert [len(found.exchange.text) for found in folder.samples()][:2] == [
        len(everything),
        len(everything) + 70_000,
    ]
    assert (
        folder.manifest.plan.arm("control").settings["command"].startswith("./run --api-key <redacted>")
    )


def test_what_a_command_was_given_as_a_secret_is_known_and_nothing_else() -> None:
    given = {
        "command": "./run --api-key hunter2hunter2 --max-tokens 12345678 --token='quoted secret'",
        "api_key": "by-its-name-of-a-knob",
        "argv": ["--password=another-one", "--short-key", "tiny"],
        "again": "--api-key <redacted>",
    }
    assert secrets_given(given) == {
        "hunter2hunter2",
        "quoted secret",
        "by-its-name-of-a-knob",
        "another-one",
    }
