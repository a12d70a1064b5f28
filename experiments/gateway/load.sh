#!/bin/sh
# The figures of docs/measurements.md "The gateway under load": load.sh OUT [SECONDS [ROUNDS]]. Needs wrk.
set -eu
here=$(dirname "$0") out=$1 seconds=${2:-60} rounds=${3:-1}
mkdir -p "$out"
python "$here/veil.py" "$out/stub.veil"
rm -f "$out"/clients.toml "$out"/ledger.sqlite*
BEARER=$(vecveil client new "$out/clients.toml" load --queries clean)
export BEARER VECVEIL_LEDGER="$out/ledger.sqlite" XDG_DATA_HOME="$out"
uvicorn --app-dir "$here" stub:app --port 9100 --log-level warning &
stub=$!
vecveil serve "$out/stub.veil" --noise-ratio 0.5 --upstream http://127.0.0.1:9100/v1 --clients "$out/clients.toml" \
    --port 9101 2> "$out/gateway.log" &
gateway=$!
trap 'kill $gateway $stub 2> /dev/null' EXIT
until curl -sf http://127.0.0.1:9101/health > /dev/null; do sleep 0.2; done
measure() { # MODEL NAME
    echo "== $2"
    MODEL=$1 wrk -t 2 -c 200 -d "$seconds"s --timeout 30s --latency -s "$here/post.lua" http://127.0.0.1:9101 |
        grep -E 'Requests/sec|99%|50%|requests '
    ps -o rss= -p $gateway | awk '{print "resident memory", int($1 / 1024), "MB"}'
}
measure stub:query "not protected"
measure stub "protected, keyed, on record"
for round in $(seq "$rounds"); do measure stub "protected, again, round $round"; done
kill -TERM $gateway
wait $gateway || true
vecveil ledger check
