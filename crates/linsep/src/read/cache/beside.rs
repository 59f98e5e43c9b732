//! The cache beside a file: made when it is missing, made anew when it is out of date.

use super::{Cache, is_cache, make, origin::Origin};
use crate::Error;
use crate::observe::Observer;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::{Labels, ReadOptions, Source};
use std::io;
use std::path::{Path, PathBuf};

/// The state of the cache next to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// The file is a cache itself.
    Itself,
    /// It is up to date: the file and the options are those that it was made with.
    Used,
    /// It was not there and has been made.
    Made,
    /// It was out of date: the file or the options have changed since. It has been made anew.
    Renewed,
}

/// Where the cache of a file is kept.
pub fn path_beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".linsep");
    name.into()
}

/// The cache of a file for these options, made if it is missing or out of date.
///
/// It is up to date if the following are unchanged: the length of the file, the time of its last change, and samples of its content.
pub fn beside(
    path: &Path,
    options: &ReadOptions,
    observer: &mut dyn Observer,
) -> Result<(PathBuf, CacheUse), Error> {
    let located = |path: &Path, error: io::Error| {
        let kind = ReadErrorKind::Io(error);
        ReadError { source_name: path.display().to_string(), line: None, column: None, kind }
    };
    if is_cache(path).map_err(|error| located(path, error))? {
        return Ok((path.to_path_buf(), CacheUse::Itself));
    }
    let source = Source::File(path.to_path_buf());
    let options = ReadOptions { labels: Labels::Required, schema: None, ..options.clone() };
    let place = path_beside(path);
    let mut found = CacheUse::Made;
    if place.try_exists().map_err(|error| located(&place, error))? {
        if !is_cache(&place).map_err(|error| located(&place, error))? {
            let reason = "it is not a cache, but has the name that the cache would get: rename it";
            return Err(Error::Write { path: place, source: io::Error::other(reason) });
        }
        let now = Origin::of(&source, &options).map_err(|error| located(path, error))?;
        // A cache of a later version, or a damaged one, is not used.
        if let Some(now) = now
            && Cache::open(&place).is_ok_and(|cache| cache.metadata.is_up_to_date(&now))
        {
            return Ok((place, CacheUse::Used));
        }
        found = CacheUse::Renewed;
    }
    make(&source, &options, &place, observer)?;
    Ok((place, found))
}
