#!/bin/sh
# The tables of docs/frontier.md: run.sh DATA OUT EMBEDDER [OPTION…]. Stop it when you like; it goes on where it was.
set -eu
here=$(dirname "$0")
data=$1 out=$2 embedder=$3
shift 3
python "$here/texts.py" "$data" "$out/texts"
common="--embedder $embedder --cache $out/cache"
mlc="mlc,batch_size=256,epochs=60,patience=8"
stsb="sts:$data/stsb/stsb.parquet,split=test"

# Models differ in what is near: with mpnet, 0.75 joins so many case reports that nothing is left to stop an attack by.
clinical=0.75
[ "$embedder" = mpnet ] && clinical=0.85

compare() { # NAME CONCEPT TEXTS TASK COSINE OPTION…
    name=$1 concept=$2 texts=$3 task=$4 cosine=$5
    shift 5
    # shellcheck disable=SC2086
    vecveil frontier "$here/$concept.toml" "$texts" --out "$out/$embedder/$name" $task $common --near-copies "$cosine" \
        --attack "$mlc" --attack nearest \
        --shape uniform --shape hard-concrete:paper --shape hard-concrete --shape canonical "$@"
}

compare days days "$out/texts/days.parquet" "--task $stsb" 0.75 "$@"
compare disease disease "$data/maccrobat2020/sentences.parquet" "" $clinical "$@"
compare disease-sts disease "$data/maccrobat2020/sentences.parquet" "--task $stsb" $clinical "$@"
compare countries countries "$out/texts/countries.parquet" "--task $stsb" 0.75 "$@"
compare entities entities "$out/texts/entities.parquet" "--task sts:$data/sts12/sts12.parquet" 0.75 "$@"
