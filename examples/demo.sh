#!/bin/sh
# Three suspects of a failure that shows in 17 % of all trials; each gets its verdict in seconds.
set -u
cd "$(dirname "$0")" || exit 1
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
try() {
    say "\$ workbench ab --control '$1' --treatment '$2' ${3:+--predict $3}"
    workbench ab --control "$1" --treatment "$2" ${3:+--predict "$3"} --seed 7 -j 2 -o "$runs/$4" ||
        [ $? -eq 4 ] # "not reproduced" is an honest end, not an error of the demo
}

say "A suspect that is the cause: with it removed, the failure is gone."
try './flaky.sh 0.17' './flaky.sh 0' 0.17:removes cause
say "A suspect said to remove the failure, which it does not: refuted within a few dozen trials."
try './flaky.sh 0.17' './flaky.sh 0.17' 0.17:removes innocent
say "A failure that does not show today: nothing is cleared by 0 against 0."
try './flaky.sh 0' './flaky.sh 0' '' silent
say "Why the first one got its verdict"
workbench explain "$runs/cause"
