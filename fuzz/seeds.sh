#!/bin/sh
# Makes the files that fuzzing starts from: small data files (the first byte chooses how they are read), models
# and checkpoints of every learner and scaling, certificates of every verdict. Needs `linsep` on the path.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/libsvm corpus/csv corpus/array corpus/cache corpus/model corpus/checkpoint corpus/certificate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf 'width,height,kind\n1,2,left\n2,1,right\n0.5,3,left\n4,1,right\n' > "$work/numbers.csv"
printf 'size;colour;kind\n1.5;red;"a ""b"""\n-2;"gr;een";c\n;red;c\n' > "$work/words.csv"
printf '# rows\n+1 qid:1 1:0.5 3:2e-3\n-1 2:1.5 # comment\n\nword 0:1\n' > "$work/rows.libsvm"
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }" > "$work/array.npy"
head -c 32 /dev/zero >> "$work/array.npy"

linsep convert "$work/rows.libsvm" "$work/rows.linsep" -q
linsep convert "$work/numbers.csv" "$work/numbers.linsep" -q

for choice in 000 002 006 012 102 302; do
    for file in "$work"/*.csv; do
        { printf "\\$choice"; cat "$file"; } > "corpus/csv/$(basename "$file")-$choice"
    done
    { printf "\\$choice"; cat "$work/rows.libsvm"; } > "corpus/libsvm/rows-$choice"
    { printf "\\$choice"; cat "$work/array.npy"; } > "corpus/array/array-$choice"
    for file in "$work"/*.linsep; do
        { printf "\\$choice"; cat "$file"; } > "corpus/cache/$(basename "$file")-$choice"
    done
done

for learner in perceptron averaged voted; do
    for scale in none max-abs standard unit-rows; do
        linsep train "$work/numbers.csv" -q --learner $learner --scale $scale --epochs 2 \
            -o "corpus/model/$learner-$scale" --checkpoint "corpus/checkpoint/$learner-$scale" > /dev/null
    done
    linsep train "$work/words.csv" -q --missing zero --learner $learner -o "corpus/model/$learner-words" > /dev/null
done

# The rows of fuzz_targets/certificate.rs. separate exits with 1 where nothing separates.
printf 'x,y,side\n0,2,up\n1,3,up\n0.5,-1,down\n-2,-3,down\n' > "$work/separable.csv"
printf 'x,y,side\n0,0,up\n0,0,down\n1,2,up\n-1,3,up\n2,-1,down\n' > "$work/touching.csv"
printf 'x,y,side\n0,1,up\n0,-1,down\n0,0,up\n2,1,down\n-2,0.5,down\n1,2,up\n' > "$work/overlapping.csv"
for rows in separable touching overlapping; do
    for bias in none append free; do
        linsep separate "$work/$rows.csv" -q --bias $bias -o "corpus/certificate/$rows-$bias" > /dev/null || [ $? -eq 1 ]
    done
done
