#!/usr/bin/env bash
# shellcheck disable=SC2086 # Arguments are split at spaces on purpose.
# Makes the golden files: models, checkpoints, caches and certificates that every later program must still read.
#
#     cargo build --release && crates/linsep/tests/golden/make.sh target/release/linsep crates/linsep/tests/golden
#
# Until the first release they are made again whenever a format changes. After it they stay as they are: what is new gets files of
# its own.
set -euo pipefail
linsep=$(realpath "$1")
golden=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$2" && cd "$2"
for input in square.svm table.csv; do
    [ -e "$input" ] || cp "$golden/$input" .
done
cp "$golden/../../../../data/iris.csv" .

# A header and every tenth row of each species; words with missing cells; rows that overlap; rows that touch.
awk -F, 'NR == 1 || NR % 10 == 2' iris.csv > iris-some.csv
printf 'size,colour,weight,label\n1,red,0.5,yes\n2,blue,?,no\n?,red,2,yes\n1.5,green,-1,no\n0.25,,3,yes\n2,green,0.125,no\n' > missing.csv
printf 'x,y,label\n0,1,up\n0,-1,down\n0,0,up\n2,1,down\n-2,0.5,down\n1,2,up\n' > overlap.csv
printf 'x,y,label\n0,0,up\n0,0,down\n1,2,up\n-1,3,up\n2,-1,down\n0.5,-2,down\n' > touching.csv

: > scores.txt
: > fingerprints.txt
# record NAME DATA: what the model predicts for each row of the data.
record() { echo "$1 $2 $("$linsep" predict -q --show score "$1" "$2" | tr '\n' ' ')" >> scores.txt; }
model() { # NAME TRAINING-DATA DATA-TO-PREDICT ARGUMENTS
    local name="$1.safetensors" data=$2 rows=$3; shift 3
    "$linsep" train -q "$data" -o "$name" "$@" > /dev/null
    record "$name" "$rows"
}
two="--classes versicolor,virginica"
for learner in perceptron averaged voted margin batch pocket lifted kernel multiclass sgd svm logistic memoriser passive-aggressive; do
    model "model-$learner" iris.csv iris-some.csv --learner $learner $two --epochs 3
done
model model-max-margin square.svm square.svm --learner max-margin
model model-max-abs iris.csv iris-some.csv $two --scale max-abs --epochs 3
model model-standard iris.csv iris-some.csv $two --scale standard --epochs 3
model model-unit-rows iris.csv iris-some.csv $two --scale unit-rows --epochs 3
model model-missing missing.csv missing.csv --missing mean --learner perceptron --epochs 9
model model-rest iris.csv iris-some.csv --learner averaged --epochs 3 --holdout 0.2
model model-loss iris.csv iris-some.csv --learner sgd --loss log --l2 0.01 --class-weight versicolor=2 --epochs 3
model model-polynomial iris.csv iris-some.csv $two --learner kernel --kernel poly --degree 3 --combine average --epochs 3
model model-votes iris.csv iris-some.csv --learner kernel --combine vote --epochs 3
model model-three iris.csv iris-some.csv --learner multiclass --epochs 3
model model-numbered square.svm square.svm --learner perceptron
model model-words table.csv table.csv --learner voted --epochs 9

# A run that ended after a part, and what the model predicts when it goes on. Orders as given: how rows are shuffled is
# no part of the promise.
checkpoint() { # NAME DATA ROWS PART WHOLE ARGUMENTS
    local name=$1 data=$2 rows=$3 part=$4 whole=$5; shift 5
    echo "$name|$data|$rows|$*|$whole" >> checkpoints.txt
    "$linsep" train -q "$data" "$@" $part --checkpoint "checkpoint-$name.safetensors" --checkpoint-every 0 > /dev/null
    "$linsep" train -q "$data" "$@" $whole -o "ended-$name" > /dev/null
    record "ended-$name" "$rows"
    rm "ended-$name"
}
: > checkpoints.txt
for learner in perceptron averaged voted; do
    checkpoint $learner iris.csv iris-some.csv "--epochs 2" "--epochs 5" --learner $learner $two --order given
done
checkpoint middle iris.csv iris-some.csv "--max-updates 17" "--max-updates 90" --learner averaged $two --order given
checkpoint sgd iris.csv iris-some.csv "--epochs 2" "--epochs 5" \
    --learner sgd --loss hinge --l2 0.01 $two --order given --scale standard
checkpoint shards iris.csv iris-some.csv "--epochs 2" "--epochs 5" --learner averaged --shards 3 $two --order given
checkpoint weighted square.svm square.svm "--epochs 1" "--epochs 4" \
    --learner passive-aggressive --class-weight balanced --order given
# A stream, saved after twenty rows of its one pass.
head -n 20 square.svm > begun.svm
"$linsep" train -q begun.svm --online --learner averaged --checkpoint checkpoint-stream.safetensors --checkpoint-every 0 > /dev/null
"$linsep" train -q square.svm --online --learner averaged -o ended-stream > /dev/null
record ended-stream square.svm
echo "stream|square.svm|square.svm|--online --learner averaged|" >> checkpoints.txt
rm ended-stream begun.svm

"$linsep" convert -q iris.csv dense.linsep
"$linsep" convert -q square.svm numbered.linsep
"$linsep" convert -q table.csv words.linsep
"$linsep" convert -q missing.csv missing.linsep --missing mean
for cache in *.linsep; do
    echo "$cache $("$linsep" inspect --json "$cache" | sed -n 's/.*"fingerprint": "\(.*\)".*/\1/p')" >> fingerprints.txt
done

# separate exits with 1 where nothing separates.
"$linsep" separate -q square.svm -o complete.cert > /dev/null
"$linsep" separate -q square.svm --bias free -o free.cert > /dev/null
"$linsep" separate -q touching.csv -o quasi.cert > /dev/null || [ $? -eq 1 ]
"$linsep" separate -q overlap.csv -o overlap.cert > /dev/null || [ $? -eq 1 ]
rm iris.csv
