#!/bin/sh
# Finds, by `git bisect run` and nothing else, the commit that brought garbled calls into the local engine.
#
#     examples/bisect-index-k.sh [DIR]      # DIR: new folder for the engine's history, kept afterwards
#
# Each step starts three servers of the commit that git has checked out, and sends 60 sessions of 4 turns.
# What counts as bad is decided in examples/bisect_step.py: one wrong answer in 240.
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
if [ $# -gt 0 ]; then
    history=$1
else
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    history=$scratch/minisgl
fi

"$python" -m workbench.local_engine.history.build "$history"
vocabulary=$history/.git/vocabulary.txt # out of the way of checkouts
"$python" -m workbench.local_engine.vocab >"$vocabulary"

export SGLANG_DSV4_BF16_INDEX_K=1 # with fp8 keys nothing is ever wrong
git -C "$history" bisect start world/race v0.2.0
git -C "$history" bisect run "$python" "$examples/bisect_step.py" "$vocabulary"
