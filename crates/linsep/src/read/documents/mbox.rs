//! The mails of an mbox file, one after the other.
//!
//! A mail begins with a line `From …`. A line of a mail that begins so, after any number of `>`, has one `>` more in the file.

use super::super::error::ReadErrorKind;
use std::io::{BufRead, Read};

/// The mails of a file. Memory does not grow with the file, only with the largest mail.
pub(super) struct Mbox {
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    /// Whether a mail has begun.
    begun: bool,
    limit: u64,
}

impl Mbox {
    pub(super) fn new(reader: Box<dyn BufRead + Send>, limit: u64) -> Self {
        Self { reader, line: Vec::new(), begun: false, limit }
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
            if self.line.starts_with(b"From ") {
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
        let text =
            "\nFrom a Mon\nSubject: x\n\n>From here\n>>From there\n> as is\nFrom b Tue\nSubject: y\n\nend";
        assert_eq!(
            mails(text, 1000),
            [
                Ok("Subject: x\n\nFrom here\n>From there\n> as is\n".to_string()),
                Ok("Subject: y\n\nend".to_string())
            ]
        );
        assert!(mails("", 1000).is_empty() && mails("From a\n", 1000).is_empty());
    }

    #[test]
    fn large_mails_and_other_files_are_errors() {
        let found = mails("From a\n0123456789\n0123456789\nFrom b\nsmall\n", 15);
        assert_eq!(found, [Err("the file is larger than 15 bytes".to_string()), Ok("small\n".to_string())]);
        assert!(mails("no mails\n", 10)[0].is_err());
    }
}
