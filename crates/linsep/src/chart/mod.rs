//! Pictures of results: from records and traces of [jobs](crate::job) to figures, and those to SVG, HTML and PNG.
//!
//! A figure shows numbers of a result and computes none of its own. Every figure has a title that says what it shows and a
//! line on how to read it; it follows the light or dark setting of its reader, and can be read without colours: classes
//! differ by their shapes too, and curves by their dashes. Names from data files are text, never markup.
//!
//! One file per kind of figure; they share colours (`ink.rs`), texts (`text.rs`), scales with ticks (`scale.rs`), panels
//! with axes (`axes.rs`) and the layout of a sheet (`figure.rs`), which `svg.rs`, `html.rs` and `png.rs` write.

mod axes;
mod boundary;
mod calibration;
mod compare;
mod contour;
mod effects;
mod figure;
mod html;
mod ink;
mod learning;
mod path;
#[cfg(feature = "png")]
mod png;
mod roc;
mod scale;
mod separation;
mod svg;
mod text;
mod trace;
mod weights;

pub use boundary::boundary;
pub use calibration::calibration;
pub use compare::compare;
pub use effects::effects;
pub use figure::Figure;
pub use ink::{Theme, style};
pub use learning::learning;
pub use path::path;
#[cfg(feature = "png")]
pub use png::PngError;
pub use roc::roc;
pub use separation::separation;
pub(crate) use text::file_name;
pub use text::{escaped, harmless};
pub use trace::trace;
pub use weights::weights;

use crate::{Error, SettingsError};
use std::path::Path;

/// The file format of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureFormat {
    /// SVG, which follows the light or dark setting of its reader.
    #[default]
    Svg,
    /// PNG.
    Png,
    /// A page of HTML with the SVG in it.
    Html,
}

impl FigureFormat {
    /// The format that the name of a file asks for.
    pub fn of(path: &Path) -> Result<Self, SettingsError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html" | "htm") => Ok(Self::Html),
            // A device, such as standard output.
            None if path.starts_with("/dev") => Ok(Self::Svg),
            _ => {
                let problem =
                    format!("{}: a picture is a file that ends in .svg, .png or .html", path.display());
                Err(SettingsError::new("output", problem))
            }
        }
    }
}

impl Figure {
    /// The bytes of a file of this format; `theme` is the paper of PNG.
    pub fn to_bytes(&self, format: FigureFormat, theme: Theme) -> Result<Vec<u8>, Error> {
        match format {
            FigureFormat::Svg => Ok(self.to_svg().into_bytes()),
            FigureFormat::Html => Ok(self.to_html().into_bytes()),
            #[cfg(not(feature = "png"))]
            FigureFormat::Png => {
                let _ = theme;
                let problem = "this linsep was built without its feature `png`: write .svg or .html";
                Err(SettingsError::new("output", problem).into())
            }
            #[cfg(feature = "png")]
            FigureFormat::Png => {
                self.to_png(theme).map_err(|error| SettingsError::new("output", error.to_string()).into())
            }
        }
    }
}
