//! Jobs as commands for the shell.

use linsep::classes::is_hidden;
use linsep::job::{
    BiasSpec, ClassSpec, CompareSpec, DataSpec, ReferenceRule, ReferenceSpec, SeparateSpec, Spec, TheorySpec,
    TrainSpec, VerifySpec,
};
use linsep::read::{ColumnAs, Missing, Source};
use linsep::scale::Scaling;
use linsep::train::ClassWeight;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The weights of classes as an option has them.
fn class_weight(weight: &ClassWeight) -> Option<String> {
    match weight {
        ClassWeight::Equal => None,
        ClassWeight::Balanced => Some("balanced".to_string()),
        ClassWeight::Named(named) => {
            let pairs: Vec<String> =
                named.iter().map(|(class, weight)| format!("{class}={weight}")).collect();
            Some(pairs.join(","))
        }
    }
}

/// The command that runs a job, with the options that say which rows and features.
pub(crate) fn command(spec: &Spec) -> String {
    match spec {
        Spec::Train(spec) => train(spec),
        Spec::Compare(spec) => compare(spec),
        Spec::Separate(spec) => separate(spec),
        Spec::Verify(spec) => verify(spec),
        Spec::Theory(spec) => theory(spec),
        _ => String::new(),
    }
}

fn train(spec: &TrainSpec) -> String {
    Words::command("train", &spec.data)
        .option("learner", spec.learner.clone())
        .options(&spec.options)
        .option("features", spec.features.map(|features| features.name().to_string()))
        .classes(&spec.classes)
        .option("scale", spec.scale.and_then(named))
        .bias(&spec.bias)
        .option("epochs", spec.epochs.map(|epochs| epochs.to_string()))
        .option("max-updates", spec.max_updates.map(|updates| updates.to_string()))
        .option("max-seconds", spec.max_seconds.map(|seconds| seconds.to_string()))
        .option("order", spec.order.and_then(named))
        .seed(spec.seed.unwrap_or(0))
        .option("init", spec.init.as_ref().map(|init| init.display().to_string()))
        .option("mistake", spec.mistake.and_then(named))
        .option("shards", spec.shards.map(|shards| shards.to_string()))
        .option("mixing", spec.mixing.and_then(named))
        .option("max-pairs", spec.max_pairs.map(|pairs| pairs.to_string()))
        .flag("probabilities", spec.probabilities)
        .reading(&spec.data)
        .output(spec.output.as_deref())
        .0
}

fn compare(spec: &CompareSpec) -> String {
    Words::command("compare", &spec.data)
        .option("learners", (!spec.learners.is_empty()).then(|| spec.learners.join(",")))
        .classes(&spec.classes)
        .option("scale", (spec.scale != Scaling::Auto).then(|| named(spec.scale)).flatten())
        .bias(&spec.bias)
        .option("order", spec.order.and_then(named))
        .seed(spec.seed)
        .reading(&spec.data)
        .0
}

fn theory(spec: &TheorySpec) -> String {
    Words::command("theory", &spec.data)
        .classes(&spec.classes)
        .option("scale", (spec.scale != Scaling::None).then(|| named(spec.scale)).flatten())
        .bias(&spec.bias)
        .seed(spec.seed)
        .reading(&spec.data)
        .0
}

fn verify(spec: &VerifySpec) -> String {
    Words(format!("linsep verify {} {}", quoted(&spec.certificate.display().to_string()), source(&spec.data)))
        .flag("allow-one-sided", spec.allow_one_sided)
        .weights_of(spec.row_weights.as_deref())
        .reading(&spec.data)
        .0
}

fn separate(spec: &SeparateSpec) -> String {
    Words::command("separate", &spec.data)
        .option("positive", spec.positive.clone())
        .option("classes", (!spec.only.is_empty()).then(|| spec.only.join(",")))
        .weights_of(spec.row_weights.as_deref())
        .option("bias", (spec.bias != Default::default()).then(|| named(spec.bias)).flatten())
        .option("bias-scale", spec.bias_scale.map(|scale| scale.to_string()))
        .option("reference", reference(&spec.reference))
        .seed(spec.seed)
        .flag("pairs", spec.pairs)
        .flag("blame", spec.blame)
        .reading(&spec.data)
        .output(spec.output.as_deref())
        .0
}

/// Words of a command.
struct Words(String);

impl Words {
    fn command(name: &str, data: &DataSpec) -> Self {
        Self(format!("linsep {name} {}", source(data)))
    }

    /// Adds an option, where it has a value.
    fn option(mut self, name: &str, value: Option<String>) -> Self {
        if let Some(value) = value {
            self.0 += &format!(" --{name} {}", quoted(&value));
        }
        self
    }

    /// Adds the options of a learner.
    fn options(self, options: &impl Serialize) -> Self {
        let Ok(Value::Object(options)) = serde_json::to_value(options) else { return self };
        options.iter().fold(self, |words, (name, value)| {
            let value = value.as_str().map_or(value.to_string(), str::to_string);
            words.option(&name.replace('_', "-"), Some(value))
        })
    }

    fn seed(self, seed: u64) -> Self {
        self.option("seed", (seed != 0).then(|| seed.to_string()))
    }

    fn output(mut self, output: Option<&Path>) -> Self {
        if let Some(path) = output {
            self.0 += &format!(" -o {}", quoted(&path.display().to_string()));
        }
        self
    }

    fn flag(mut self, name: &str, given: bool) -> Self {
        if given {
            self.0 += &format!(" --{name}");
        }
        self
    }

    fn classes(self, classes: &ClassSpec) -> Self {
        self.option("positive", classes.positive.clone())
            .option("classes", (!classes.only.is_empty()).then(|| classes.only.join(",")))
            .option("class-weight", class_weight(&classes.weight))
            .weights_of(classes.row_weights.as_deref())
    }

    /// Adds the file of weights.
    fn weights_of(self, file: Option<&Path>) -> Self {
        self.option("weights", file.map(|path| path.display().to_string()))
    }

    fn bias(self, bias: &BiasSpec) -> Self {
        self.option("bias", (bias.append == Some(false)).then(|| "none".to_string()))
            .option("bias-scale", bias.scale.map(|scale| scale.to_string()))
    }

    /// Adds how the data is read.
    fn reading(self, data: &DataSpec) -> Self {
        let read = &data.read;
        let tab = |byte: u8| if byte == b'\t' { "tab".to_string() } else { char::from(byte).to_string() };
        let header = |header: bool| if header { "yes" } else { "no" }.to_string();
        self.option("format", read.format.and_then(named))
            .option("label", read.csv.label.clone())
            .option("ignore", (!read.csv.ignore.is_empty()).then(|| read.csv.ignore.join(",")))
            .option("column", (!read.csv.columns.is_empty()).then(|| columns(&read.csv.columns)))
            .option("header", read.csv.header.map(header))
            .option("delimiter", read.csv.delimiter.map(tab))
            .option(
                "missing",
                (read.csv.missing != Missing::NotSaid).then(|| named(read.csv.missing)).flatten(),
            )
            .option("weights", data.counts.clone())
            .option("na", read.csv.na.as_ref().map(|words| words.join(",")))
            .option("size", read.pictures.size.map(String::from))
            .flag("colour", read.pictures.colour)
            .option("sheet", read.csv.sheet.clone())
            .option("index-base", read.libsvm.index_base.map(|base| base.to_string()))
            .option("labels", read.array.labels_file.as_ref().map(|path| path.display().to_string()))
            .option("encoding", read.encoding.clone())
            .option("text", (!read.text.columns.is_empty()).then(|| read.text.columns.join(",")))
            .option("terms", read.text.terms.map(|terms| terms.name().to_string()))
            .option("ngrams", read.text.ngrams.map(|ngrams| ngrams.to_string()))
            .option("text-weights", read.text.weights.map(|weights| weights.name().to_string()))
            .option("min-count", read.text.min_count.map(|rows| rows.to_string()))
            .option("max-vocabulary", read.text.max_vocabulary.map(|most| most.to_string()))
            .option("hash-bits", read.text.hash_bits.map(|bits| bits.to_string()))
            .option("words", (!read.text.words.is_empty()).then(|| read.text.words.join(",")))
            .option("max-file", read.max_file.map(|bytes| format!("{bytes}B")))
            .option("max-features", read.max_features.map(|most| most.to_string()))
            .option("max-classes", read.max_classes.map(|most| most.to_string()))
            .option("max-line", read.max_line.map(|bytes| format!("{bytes}B")))
            .flag("auto", read.csv.auto)
            .flag("skip-bad", read.skip_bad)
    }
}

/// Reference levels, as one argument.
fn reference(spec: &ReferenceSpec) -> Option<String> {
    let rule = (spec.rule != ReferenceRule::default()).then(|| named(spec.rule)).flatten();
    let levels = spec.named.iter().map(|(column, word)| format!("{column}={word}"));
    let all: Vec<String> = rule.into_iter().chain(levels).collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// The kinds of columns, as one argument.
fn columns(columns: &BTreeMap<String, ColumnAs>) -> String {
    columns.iter().map(|(name, kind)| format!("{name}={}", kind.name())).collect::<Vec<_>>().join(",")
}

/// The data, as a word for the shell.
fn source(data: &DataSpec) -> String {
    match &data.source {
        Source::File(path) => quoted(&path.display().to_string()),
        _ => "-".to_string(),
    }
}

/// How the library spells a choice.
fn named(choice: impl Serialize) -> Option<String> {
    match serde_json::to_value(choice) {
        Ok(Value::String(name)) => Some(name),
        _ => None,
    }
}

/// A word for the shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:=+%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    if !text.contains(is_hidden) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let spelled = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        c if is_hidden(c) => format!("\\U{:08x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", text.chars().map(spelled).collect::<String>())
}
