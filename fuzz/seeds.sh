#!/bin/sh
# Makes fuzz/seeds anew: small files of every format, as the program writes them, from which fuzzing starts. They are committed;
# this is needed again when a format changes. Needs `linsep` on the path.
set -eu
cd "$(dirname "$0")"
# Written by pyarrow, openpyxl and Pillow, which this script does not need: kept as they are.
kept=$(mktemp -d)
cp seeds/columnar/* seeds/xlsx/workbook* seeds/picture/*.png "$kept"
rm -rf seeds
for target in libsvm csv arff jsonl vw idx xlsx columnar picture encoding array cache model checkpoint certificate compressed recipe columns spec document texts readers; do
    mkdir -p "seeds/$target"
done
seeds=$PWD/seeds
golden=$PWD/../crates/linsep/tests/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Files keep the names of their sources: names without a folder are the same everywhere.
cd "$work"

# prefixed OCTAL FILE SEED: for the readers the first byte of an input chooses how it is read.
prefixed() { { printf "\\$1"; cat "$2"; } > "$seeds/$3"; }

printf 'width,height,kind\n1,2,left\n2,1,right\n0.5,3,left\n4,1,right\n' > numbers.csv
printf 'size;colour;kind\n1.5;red;"a ""b"""\n-2;"gr;een";c\n;red;c\n' > words.csv
printf '# rows\n+1 qid:1 1:0.5 3:2e-3\n-1 2:1.5 # comment\n\nword 0:1\n' > rows.svm
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }" > array.npy
head -c 32 /dev/zero >> array.npy
for name in numbers.linsep numbers.npz numbers.tsv numbers.csv.gz numbers.csv.zst; do
    linsep convert -q numbers.csv "$name"
done
linsep convert -q rows.svm rows.linsep
linsep convert -q rows.svm rows.npz
linsep convert -q --missing mean words.csv words.linsep

# 002: labels are required; 022: missing cells become zero; 012: online; 202, 302: with and without a header.
for choice in 002 012 022 202 302; do
    prefixed $choice numbers.csv "csv/numbers-$choice"
done
for choice in 002 022 042 062; do
    prefixed $choice words.csv "csv/words-$choice"
done
prefixed 003 numbers.tsv csv/tabs-003
# 100: the first line holds names; 002: labels in the second column.
for choice in 000 002 100; do
    prefixed $choice numbers.csv "readers/numbers-$choice"
done
prefixed 000 numbers.tsv readers/tabs-000
prefixed 000 words.csv readers/words-000
prefixed 000 rows.svm readers/pairs-000

printf 'text,kind\n"Free prize, free loan",spam\nsee you at noon,ham\n"Gr\303\274\303\237e\nnoon",ham\na loan,spam\n' > texts.csv
printf 'From: a@b\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n<p>caf=E9 <b>loan</b></p>\n--b\nContent-Type: application/pdf; name="x.pdf"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n' > mail.eml
{ printf 'From x Mon\n'; cat mail.eml; printf '\nFrom y Tue\nSubject: second\nTo: z\n\n>From here\n'; } > mails.mbox
printf '<!DOCTYPE html><html><head><title>t</title></head><body>one &amp; <i>two</i></body></html>' > page.html
# The first two bits choose the name, the third an mbox file, the fourth characters instead of words.
prefixed 000 mail.eml document/mail-000
prefixed 011 mail.eml document/mail-011
prefixed 002 page.html document/page-002
prefixed 003 texts.csv document/text-003
prefixed 004 mails.mbox document/mbox-004
for choice in 000 001 002 010 040 044; do
    prefixed $choice texts.csv "texts/texts-$choice"
done
for choice in 000 002 003 012 102 302; do
    prefixed $choice rows.svm "libsvm/rows-$choice"
done
cat > weather.arff <<'END'
% a comment, with commas
@RELATION weather
@attribute 'out look' {sunny, 'over cast'}
@attribute temperature real
@attribute day date yyyy-MM-dd
@attribute play {yes, no}
@DATA
sunny,85,2024-01-31,no
'over cast',?,2024-02-01,yes
sunny, 7.5 ,2024-02-02,'n\'o'
END
printf '@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute class {n,p}\n@data\n{0 2, 2 p}\n{1 y}\n{ }\n' > sparse.arff
cat > iris.dat <<'END'
@relation iris
@attribute Kind{good, bad}
@attribute Width real [2.0, 4.4]
@attribute Size integer [1, 9]
@inputs Width, Size
@outputs Kind
@data
good, 2.5, 3
bad, <null>, 9
END
for choice in 002 022 062; do
    prefixed $choice weather.arff "arff/weather-$choice"
done
prefixed 003 sparse.arff arff/sparse-003
prefixed 022 iris.dat arff/keel-022

printf '{"size": 1.5, "colour": "red", "when": "2024-01-31", "kind": "a"}\n{"kind": "b", "size": null, "more": {"v": [1, true]}}\n' > rows.jsonl
printf '1 2.5 tag|price a:0.5 b |word:2 red\n-1 | plain x:4\n' > rows.vw
printf '\000\000\010\003\000\000\000\002\000\000\000\002\000\000\000\001\001\002\003\377' > pictures.idx
for choice in 002 022 006; do
    prefixed $choice rows.jsonl "jsonl/rows-$choice"
    prefixed $choice rows.vw "vw/rows-$choice"
done
prefixed 000 pictures.idx idx/pictures-000
# A sheet, a zero, and the texts that its cells share.
{ printf '\022<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>kind</t></is></c></row><row r="2"><c r="A2" s="1"><v>45322.5</v></c><c r="B2" t="str"><v>a</v></c></row><row r="3"><c r="A3" t="e"><v>#REF!</v></c><c r="B3" t="b"><v>1</v></c></row></sheetData></worksheet>'
  printf '\000<sst><si><t>when</t></si></sst>'; } > "$seeds"/xlsx/sheet-022
mv "$kept"/workbook* "$seeds"/xlsx
mv "$kept"/*.png "$seeds"/picture
mv "$kept"/* "$seeds"/columnar
rmdir "$kept"
for picture in "$golden"/../../src/read/pictures/samples/*.jpg; do
    prefixed 263 "$picture" "picture/$(basename "$picture" .jpg)"
done

# The second byte chooses an encoding by its name (the lowest three bits), and how UTF-16 is made of the text.
printf 'gr\366\337e;kind\n1;gro\337\n2;klein\n3;klein\n' > german.csv
printf '\337\356\344;\344\340\n1;\344\340\n2;\355\345\362\n' > russian.csv
printf '\203\122\201\133;\220\324\n1;\220\324\n2;\223\214\n' > japanese.csv
{ printf '\002\003'; cat german.csv; } > "$seeds"/encoding/windows-1252
{ printf '\003\004'; cat russian.csv; } > "$seeds"/encoding/windows-1251
{ printf '\003\005'; cat japanese.csv; } > "$seeds"/encoding/shift-jis
{ printf '\002\011'; cat numbers.csv; } > "$seeds"/encoding/utf-16-little
{ printf '\002\022'; cat numbers.csv; } > "$seeds"/encoding/utf-16-big-with-mark
{ printf '\002\051'; cat rows.svm; } > "$seeds"/encoding/utf-16-cut

prefixed 000 array.npy array/dense-000
prefixed 003 numbers.npz array/dense-003
prefixed 003 rows.npz array/sparse-003
for name in numbers rows words; do
    prefixed 002 $name.linsep "cache/$name-002"
done
prefixed 012 rows.linsep cache/rows-012
prefixed 002 numbers.csv.gz compressed/gzip-002
prefixed 002 numbers.csv.zst compressed/zstandard-002
# For the second reading, the second byte chooses the compression and where to cut.
{ printf '\002\001'; cat numbers.csv; } > "$seeds"/compressed/text-002-001
{ printf '\002\302'; cat rows.svm; } > "$seeds"/compressed/text-002-302

printf 'size,colour,weight,kind\n1.5,red,2,a\n2,violet,3,b\n' > unseen.csv
printf 'weight,size,extra,colour\n1,2,3,red\n4,5,6,green\n' > moved.csv
prefixed 000 unseen.csv recipe/unseen-000
prefixed 024 unseen.csv recipe/unseen-024
prefixed 005 moved.csv recipe/moved-005
prefixed 206 numbers.csv recipe/bare-206
prefixed 013 rows.svm recipe/pairs-013
prefixed 016 array.npy recipe/array-016

printf 'left\nright\nleft\nright\n' > "$seeds"/columns/labels
printf '1\n0.5\n2\n0\n' > "$seeds"/columns/weights
printf '\223NUMPY\001\000\166\000%-117s\n\001\002\001\002' "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }" > "$seeds"/columns/bytes.npy
printf '\223NUMPY\001\000\166\000%-117s\nababcdcd' "{'descr': '|S2', 'fortran_order': False, 'shape': (4,), }" > "$seeds"/columns/texts.npy

for learner in perceptron averaged voted kernel multiclass memoriser svm; do
    linsep train numbers.csv -q --learner $learner -o "$seeds/model/$learner" > /dev/null
done
for scale in max-abs standard unit-rows; do
    linsep train numbers.csv -q --scale $scale --epochs 2 -o "$seeds/model/$scale" --checkpoint "$seeds/checkpoint/$scale" > /dev/null
done
for learner in perceptron voted; do
    linsep train numbers.csv -q --learner $learner --epochs 2 --checkpoint "$seeds/checkpoint/$learner" > /dev/null
done
linsep train words.csv -q --missing zero -o "$seeds/model/words" > /dev/null

for model in averaged kernel svm; do
    linsep inspect "$seeds/model/$model" --spec > "$seeds/spec/$model.toml"
done
cat > "$seeds"/spec/separate.toml <<'END'
job = "separate"

[data]
source = "rows.csv"
cache = true

[data.read]
format = "csv"
skip_bad = true
END
printf '{"job": "train", "learner": "sgd", "loss": "log", "epochs": 5, "seed": 7, "data": {"source": "-"}}\n' > "$seeds"/spec/train.json
printf '{"job": "predict", "model": "m", "show": "score", "data": {"source": "rows.svm"}, "output": "out"}\n' > "$seeds"/spec/predict.json

# The rows of fuzz_targets/certificate.rs. separate exits with 1 where nothing separates.
printf 'x,y,side\n0,2,up\n1,3,up\n0.5,-1,down\n-2,-3,down\n' > separable.csv
printf 'x,y,side\n0,0,up\n0,0,down\n1,2,up\n-1,3,up\n2,-1,down\n' > touching.csv
printf 'x,y,side\n0,1,up\n0,-1,down\n0,0,up\n2,1,down\n-2,0.5,down\n1,2,up\n' > overlapping.csv
for rows in separable touching overlapping; do
    for bias in none append free; do
        linsep separate $rows.csv -q --bias $bias -o "$seeds/certificate/$rows-$bias" > /dev/null || [ $? -eq 1 ]
    done
done
# A certificate with claims about columns.
{
    sed '/^combination/q' "$seeds/certificate/separable-none"
    printf 'member 0:0x1p0 1:0x3p0\nmember 0:-0x1p0 1:0x3p0\nopen 0 0 1\nplus-infinite 1 0 0:0x1p0\n'
    printf 'alone 1 1:0x1p0\nat-least 0\nend\n'
} > "$seeds/certificate/separable-columns"
