#!/bin/sh
# The baseline of docs/audit.md: run.sh DATA OUT [OPTION…]. Stop it when you like; it goes on where it was.
set -eu
here=$(dirname "$0")/../frontier
data=$1 out=$2
shift 2
[ -d "$out/texts/fiqa" ] || python "$here/texts.py" "$data" "$out/texts"

audit() { # NAME CONCEPT TEXTS COSINE OPTION…
    name=$1 concept="$here/$2.toml" texts=$3 cosine=$4
    shift 4
    mkdir -p "$out/$name"
    [ -d "$out/$name/default.veil" ] ||
        vecveil learn "$concept" "$texts" --out "$out/$name/default.veil" --cache "$out/cache" --no-ledger --drop-empty "$@"
    vecveil audit "$out/$name/default.veil" "$texts" --out "$out/$name/audit" --cache "$out/cache" --examples 0 \
        --near-copies "$cosine" --seed 0 1 2 --defense laplace --defense sparse --defense veil "$@"
    [ -d "$out/$name/kept.veil" ] || vecveil learn "$concept" "$texts" --out "$out/$name/kept.veil" --cache "$out/cache" \
        --substitution keep --no-ledger --drop-empty "$@"
    vecveil audit "$out/$name/kept.veil" "$texts" --out "$out/$name/kept" --cache "$out/cache" --examples 0 \
        --near-copies "$cosine" --seed 0 1 2 --defense veil --baseline none "$@"
}

audit countries countries "$out/texts/countries.parquet" 0.75 "$@"
audit entities entities "$out/texts/entities.parquet" 0.75 "$@"
audit disease disease "$data/maccrobat2020/sentences.parquet" 0.75 "$@"
audit nfcorpus conditions "$out/texts/nfcorpus/corpus.parquet" 0.95 --task "retrieval:$out/texts/nfcorpus" "$@"
audit fiqa names "$out/texts/fiqa/corpus.parquet" 0.95 --task "retrieval:$out/texts/fiqa" "$@"
