//! The mails of an mbox file, one after the other.
//!
//! A mail begins with a line `From address date`, which is the first line or comes after a blank one. A line of a mail that
//! begins so, after any number of `>`, has one `>` more in the file.

use super::super::error::ReadErrorKind;
use std::io::{BufRead, Read};

/// The mails of a file. Memory does not grow with the file, only with the largest mail.
pub(super) struct Mbox {
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    /// Whether a mail has begun.
    begun: bool,
    /// Whether the last line was blank.
    after_blank: bool,
    limit: u64,
}

impl Mbox {
    pub(super) fn new(reader: Box<dyn BufRead + Send>, limit: u64) -> Self {
        Self { reader, line: Vec::new(), begun: false, after_blank: true, limit }
    }

    /// The next mail, without its `From` line.
    pub(super) fn next(&mut self) -> Option<Result<Vec<u8>, ReadErrorKind>> {
        let mut mail = Vec::new();
        let mut is_large = false;
        loop {
            self.line.clear();
            match self.reader.by_ref().take(self.limit + 1).read_until(b'\n', &mut self.line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Some(Err(error.into())),
            }
            let after_blank = std::mem::replace(&mut self.after_blank, self.line.trim_ascii().is_empty());
            let begins = self.line.starts_with(b"From ");
            if begins && (!self.begun || after_blank && has_date(&self.line)) {
                let had = std::mem::replace(&mut self.begun, true);
                if had && (is_large || !mail.is_empty()) {
                    return Some(self.checked(mail, is_large));
                }
                continue;
            }
            if !self.begun {
                // What stands before the first mail is none.
                if self.line.trim_ascii().is_empty() {
                    continue;
                }
                let problem = "an mbox file begins with a line \"From …\"".to_string();
                return Some(Err(ReadErrorKind::NotAText(problem)));
            }
            let quotes = self.line.iter().take_while(|&&byte| byte == b'>').count();
            let quoted = quotes > 0 && self.line[quotes..].starts_with(b"From ");
            mail.extend_from_slice(&self.line[usize::from(quoted)..]);
            if mail.len() as u64 > self.limit {
                is_large = true;
                mail.clear();
            }
        }
        (is_large || !mail.is_empty()).then(|| self.checked(mail, is_large))
    }

    fn checked(&self, mail: Vec<u8>, is_large: bool) -> Result<Vec<u8>, ReadErrorKind> {
        if is_large { Err(ReadErrorKind::LargeFile { limit: self.limit }) } else { Ok(mail) }
    }
}

/// Whether a line has a date after an address, as far as programs agree on dates: two of a day of the week, a month, a time and
/// a year.
fn has_date(line: &[u8]) -> bool {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    let words = || line.split_whitespace().skip(2).map(|word| word.trim_end_matches(','));
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = |word: &str| {
        word.contains(':') && word.split(':').all(|part| matches!(part.len(), 1..=2) && is_number(part))
    };
    let parts = [
        words().any(|word| DAYS.contains(&word)),
        words().any(|word| MONTHS.contains(&word)),
        words().any(is_time),
        words().any(|word| word.len() == 4 && is_number(word)),
    ];
    parts.into_iter().filter(|&found| found).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mails(text: &'static str, limit: u64) -> Vec<Result<String, String>> {
        let mut mbox = Mbox::new(Box::new(text.as_bytes()), limit);
        let mut found = Vec::new();
        while let Some(mail) = mbox.next() {
            found.push(match mail {
                Ok(mail) => Ok(String::from_utf8(mail).unwrap()),
                Err(kind) => Err(kind.to_string()),
            });
        }
        found
    }

    #[test]
    fn mails_are_divided_and_quotes_taken_off() {
        let text = "\nFrom a Mon\nSubject: x\n\n>From here\n>>From there\n> as is\n\nFrom b Tue Jan 2\nSubject: y\n\nend";
        assert_eq!(
            mails(text, 1000),
            [
                Ok("Subject: x\n\nFrom here\n>From there\n> as is\n\n".to_string()),
                Ok("Subject: y\n\nend".to_string())
            ]
        );
        assert!(mails("", 1000).is_empty() && mails("From a\n", 1000).is_empty());
    }

    #[test]
    fn a_sentence_is_no_beginning_of_a_mail() {
        let text = "From a@b Mon Jan  1 00:00:00 2001\nSubject: x\n\nFrom here on, Mon is free\n\nFrom there we go\n\
                    end\nFrom a@b Mon Jan  1 00:00:00 2001\n\nFrom c@d Thu, 04 Jan 2001 01:02:03 +0000\nSubject: y\n";
        let found = mails(text, 1000);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0]
                .as_ref()
                .is_ok_and(|mail| mail.contains("From here on") && mail.contains("From there we go"))
        );
        assert_eq!(found[1], Ok("Subject: y\n".to_string()));
    }

    #[test]
    fn large_mails_and_other_files_are_errors() {
        let found = mails("From a\n0123456789\n0123456789\n\nFrom b Mon Jan 1\nsmall\n", 20);
        assert_eq!(found, [Err("the file is larger than 20 bytes".to_string()), Ok("small\n".to_string())]);
        assert!(mails("no mails\n", 10)[0].is_err());
    }
}
