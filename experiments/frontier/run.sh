#!/bin/sh
# The tables of docs/frontier.md: run.sh DATA OUT EMBEDDER [OPTION…]. Stop it when you like; it goes on where it was.
set -eu
here=$(dirname "$0")
data=$1 out=$2 embedder=$3
shift 3
[ -d "$out/texts/fiqa" ] || python "$here/texts.py" "$data" "$out/texts"
mlc="mlc,batch_size=256,epochs=60,patience=8"

# Models differ in what is near: with mpnet, 0.75 joins so many case reports that nothing is left to stop an attack by.
clinical=0.75
[ "$embedder" = mpnet ] && clinical=0.85

compare() { # NAME CONCEPT TEXTS COSINE OPTION…
    name=$1 concept=$2 texts=$3 cosine=$4
    shift 4
    vecveil frontier "$here/$concept.toml" "$texts" --out "$out/$embedder/$name" --embedder "$embedder" \
        --cache "$out/cache" --near-copies "$cosine" --attack "$mlc" --attack nearest --attack ridge "$@"
}

defend() { # NAME CONCEPT TEXTS COSINE OPTION…
    compare "$@" --shape uniform --shape hard-concrete:paper --shape canonical --shape canonical,substitution=remove
}

randomize() { # NAME CONCEPT TEXTS COSINE OPTION…
    compare "$@" --shape canonical,substitution=randomize,word_epsilon=4
}

# Vectors that come without their texts.
bare() { # NAME CONCEPT TEXTS COSINE OPTION…
    compare "$@" --shape canonical --shape swap --guide ridge,denoiser=none --guide nearest --guide fill-in-the-blank
}

nfcorpus="$out/texts/nfcorpus" fiqa="$out/texts/fiqa"
defend nfcorpus conditions "$nfcorpus/corpus.parquet" 0.95 --task "retrieval:$nfcorpus" "$@"
defend nfcorpus-reranked conditions "$nfcorpus/corpus.parquet" 0.95 --task "retrieval:$nfcorpus" --measure reranked "$@"
defend countries countries "$out/texts/countries.parquet" 0.75 "$@"
defend disease disease "$data/maccrobat2020/sentences.parquet" "$clinical" "$@"
defend entities entities "$out/texts/entities.parquet" 0.75 "$@"
defend days days "$out/texts/days.parquet" 0.75 "$@"
defend fiqa names "$fiqa/corpus.parquet" 0.95 --task "retrieval:$fiqa" "$@"
defend fiqa-reranked names "$fiqa/corpus.parquet" 0.95 --task "retrieval:$fiqa" --measure reranked "$@"
randomize countries-randomized countries "$out/texts/countries.parquet" 0.75 "$@"
randomize nfcorpus-randomized conditions "$nfcorpus/corpus.parquet" 0.95 --task "retrieval:$nfcorpus" "$@"
bare countries-bare countries "$out/texts/countries.parquet" 0.75 "$@"
bare nfcorpus-bare conditions "$nfcorpus/corpus.parquet" 0.95 --task "retrieval:$nfcorpus" "$@"
bare disease-bare disease "$data/maccrobat2020/sentences.parquet" "$clinical" "$@"
