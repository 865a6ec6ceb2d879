#!/bin/sh
# Fails with the probability given as its first argument: ./flaky.sh 0.17
# With $WORKBENCH_SEED set, that seed alone decides, so that a run can be repeated exactly.
case ${1:?usage: flaky.sh RATE, such as 0.17} in
    0.*) digits=${1#0.}000 per_mille=1${digits%"${digits#???}"} per_mille=$((per_mille - 1000)) ;;
    *) per_mille=$(($1 * 1000)) ;;
esac
seed=${WORKBENCH_SEED:-$(od -An -N3 -tu4 /dev/urandom)}
if [ $((seed % 1000)) -lt "$per_mille" ]; then
    echo "FAILED: the reply is garbled" >&2
    exit 1
fi
