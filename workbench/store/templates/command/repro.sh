#!/bin/sh
# Stands in for your own reproduction: put it here, or name another command in campaign.yaml.
#
# Exit with 0 when all is well and with 1 when it failed; 125 says that nothing could be observed.
# WORKBENCH_SEED is another number in every trial, and the same one when a run is repeated.

dice=$(printf '%s' "${WORKBENCH_SEED:-$$}" | cksum | cut -d ' ' -f 1)

if [ "${CACHE:-1}" = 1 ] && [ $((dice % 10)) -lt 3 ]; then
    echo "stale value read from the cache" >&2
    exit 1
fi
