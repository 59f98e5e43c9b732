//! Lessons: pages that a teacher has prepared, as steps with a text, data and settings.

use linsep::job::Spec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::path::Path;

/// A lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Its name.
    title: String,
    /// Its summary, in a sentence.
    #[serde(default)]
    about: String,
    #[serde(rename = "step")]
    steps: Vec<Step>,
}

/// One step of a lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    title: String,
    /// Paragraphs, with an empty line between them.
    text: String,
    /// A built-in data set; that of the step before if neither this nor `points` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    /// A table of text, such as `x,y,class` and lines of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    points: Option<String>,
    /// Fields of a training specification.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    settings: Map<String, Value>,
    /// Which part of the page is shown.
    #[serde(default)]
    view: View,
    /// At which update the picture stands; the last if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    update: Option<u64>,
}

/// A part of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum View {
    #[default]
    Learn,
    Proof,
    Separate,
    Compare,
}

/// Why a file is no lesson.
#[derive(Debug)]
pub struct LessonError {
    place: String,
    problem: String,
}

impl fmt::Display for LessonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: this is not a lesson: {}", self.place, self.problem)
    }
}

impl std::error::Error for LessonError {}

/// The bytes of a lesson, at most.
const MAX_LESSON: u64 = 1 << 24;

impl Lesson {
    /// Opens a lesson.
    pub fn open(path: &Path) -> Result<Self, LessonError> {
        let place = path.display().to_string();
        let text = linsep::store::read_text(path, MAX_LESSON).map_err(|error| LessonError {
            place: place.clone(),
            problem: format!("it cannot be read: {error}"),
        })?;
        Self::parse(&text, &place)
    }

    fn parse(text: &str, place: &str) -> Result<Self, LessonError> {
        let refuse = |problem: String| Err(LessonError { place: place.to_string(), problem });
        let lesson: Lesson = match toml::from_str(text) {
            Ok(lesson) => lesson,
            Err(error) => return refuse(error.to_string().trim_end().to_string()),
        };
        if lesson.steps.is_empty() {
            return refuse("it has no [[step]]".to_string());
        }
        // The points that the steps are about, until a step has others or a built-in set.
        let mut rows: Option<linsep::Dataset> = None;
        for (i, step) in lesson.steps.iter().enumerate() {
            let of_step = |problem: String| format!("step {} (\"{}\"): {problem}", i + 1, step.title);
            let built_in = crate::data::Store::built_in();
            let known: Vec<&str> = built_in.iter().filter_map(|set| set["id"].as_str()).collect();
            match (&step.data, &step.points) {
                (Some(_), Some(_)) => {
                    return refuse(of_step("it has both data and points: give one".to_string()));
                }
                (None, None) if i == 0 => {
                    return refuse(of_step("the first step needs data or points".to_string()));
                }
                (Some(data), None) if !known.contains(&data.as_str()) => {
                    return refuse(of_step(format!(
                        "there is no data \"{data}\"; there is {}",
                        known.join(", ")
                    )));
                }
                (None, Some(points)) => {
                    let source =
                        linsep::Source::Shared("points".to_string(), points.clone().into_bytes().into());
                    match linsep::read(&source, &linsep::ReadOptions::default(), &mut ()) {
                        Ok(loaded) => rows = Some(loaded.dataset),
                        Err(error) => return refuse(of_step(linsep::spelling::plain(&error.to_string()))),
                    }
                }
                (Some(_), None) => rows = None,
                (None, None) => {}
            }
            let mut job = step.settings.clone();
            job.insert("job".to_string(), "train".into());
            job.insert("data".to_string(), serde_json::json!({"source": "square"}));
            if let Err(problem) = check_settings(job, rows.as_ref()) {
                return refuse(of_step(format!("settings: {problem}")));
            }
        }
        Ok(lesson)
    }
}

/// Refuses settings that a page could not learn with.
fn check_settings(job: Map<String, Value>, rows: Option<&linsep::Dataset>) -> Result<(), String> {
    let (Spec::Train(spec), _) = crate::jobs::parse(Value::Object(job))? else { return Ok(()) };
    let classes = rows.filter(|_| !spec.classes.only.is_empty()).map(|rows| spec.classes.names(rows));
    let checked = spec.check_settings().and(classes.transpose());
    checked.map(|_| ()).map_err(|error| linsep::spelling::plain(&error.problem))
}

/// The lessons that come with the program.
pub(crate) fn included() -> Vec<Lesson> {
    const TEXTS: &[&str] = &[
        include_str!("../lessons/a-line-that-learns.toml"),
        include_str!("../lessons/why-it-must-stop.toml"),
        include_str!("../lessons/when-it-cannot.toml"),
    ];
    TEXTS.iter().filter_map(|text| Lesson::parse(text, "an included lesson").ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_included_lessons_are_lessons() {
        let lessons = included();
        let titles: Vec<&str> = lessons.iter().map(|lesson| lesson.title.as_str()).collect();
        assert_eq!(titles, ["A line that learns", "Why it must stop", "When it cannot"]);
        assert!(lessons.iter().all(|lesson| lesson.steps.len() >= 4));
    }

    #[test]
    fn a_bad_lesson_is_refused_with_its_place() {
        let refused = |text: &str| Lesson::parse(text, "own.toml").unwrap_err().to_string();
        let step = |rest: &str| format!("title = \"T\"\n[[step]]\ntitle = \"S\"\ntext = \"t\"\n{rest}");
        assert!(refused("title = \"T\"\nstep = []").contains("no [[step]]"));
        assert!(refused("title = ").contains("line 1"), "{}", refused("title = "));
        assert!(refused(&step("")).contains("step 1 (\"S\"): the first step needs data"));
        assert!(
            refused(&step("data = \"/etc/passwd\""))
                .contains("there is no data \"/etc/passwd\"; there is square")
        );
        assert!(refused(&step("points = \"x,y\\n1,\\\"\"")).contains("step 1"));
        assert!(refused(&step("data = \"xor\"\nupdate = -1")).contains("line 6"));
        assert!(refused(&step("data = \"xor\"\ncolour = 1")).contains("colour"));
        let settings = step("data = \"xor\"\n[step.settings]\nepochs = \"x\"");
        assert!(refused(&settings).contains("settings: “epochs” is “x”"), "{}", refused(&settings));
        for (settings, why) in [
            ("learner = \"perzeptron\"", "\"perzeptron\""),
            ("options = { C = -1 }", "C"),
            ("learner = \"svm\"\noptions = { C = -1 }", "C"),
            ("epochs = 0", "epochs"),
            ("max_pairs = 3", "features"),
        ] {
            let error = refused(&step(&format!("data = \"xor\"\n[step.settings]\n{settings}")));
            assert!(
                error.contains("step 1 (\"S\"): settings: ") && error.contains(why),
                "{settings}: {error}"
            );
            assert!(!error.contains('⟦') && !error.contains("--"), "{error}");
        }
        let points =
            "points = \"x,y,class\\n1,2,a\\n3,4,b\"\n[step.settings]\nclasses = { only = [\"a\", \"c\"] }";
        assert!(refused(&step(points)).contains("\"c\", which no row has"), "{}", refused(&step(points)));
        assert!(Lesson::parse(&step("data = \"xor\""), "own.toml").is_ok());
    }
}
