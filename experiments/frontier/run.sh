#!/bin/sh
# The tables of docs/frontier.md: run.sh DATA OUT EMBEDDER [OPTION…]. Stop it when you like; it goes on where it was.
set -eu
here=$(dirname "$0")
data=$1 out=$2 embedder=$3
shift 3
python "$here/texts.py" "$data" "$out/texts"
common="--embedder $embedder --near-copies 0.75 --cache $out/cache"
mlc="mlc,batch_size=256,epochs=60,patience=8"
stsb="sts:$data/stsb/stsb.parquet,split=test"

compare() { # NAME CONCEPT TEXTS TASK OPTION…
    name=$1 concept=$2 texts=$3 task=$4
    shift 4
    # shellcheck disable=SC2086
    vecveil frontier "$here/$concept.toml" "$texts" --out "$out/$embedder/$name" $task $common \
        --attack "$mlc" --attack nearest \
        --shape uniform --shape hard-concrete:paper --shape hard-concrete --shape canonical "$@"
}

compare days days "$out/texts/days.parquet" "--task $stsb" "$@"
compare disease disease "$data/maccrobat2020/sentences.parquet" "" "$@"
compare disease-sts disease "$data/maccrobat2020/sentences.parquet" "--task $stsb" "$@"
compare countries countries "$out/texts/countries.parquet" "--task $stsb" "$@"
compare entities entities "$out/texts/entities.parquet" "--task sts:$data/sts12/sts12.parquet" "$@"
