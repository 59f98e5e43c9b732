//! As much of JSON as a certificate needs: strings, whole numbers, lists and objects with known keys.
//!
//! There is no tree of values and no recursion: the certificate's reader asks for what must come next, so that text of
//! any other form ends the reading at once, however deep it is nested.

use crate::ParseError;

/// A place in the text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte at which the next thing starts; white space is skipped.
    pub(crate) fn place(&mut self) -> usize {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.at
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether the next thing is this character; then it is passed over.
    fn passes(&mut self, character: u8) -> bool {
        self.place();
        let here = self.byte() == Some(character);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, character: u8, what: &str) -> Result<(), ParseError> {
        if self.passes(character) { Ok(()) } else { self.fail(format!("expected {what}")) }
    }

    /// An error here.
    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, ParseError> {
        let reason = reason.into();
        if self.at == self.text.len() {
            return error(self.at, format!("the text ends early: {reason}"));
        }
        error(self.at, reason)
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), ParseError> {
        if self.place() == self.text.len() { Ok(()) } else { self.fail("text follows after the certificate") }
    }

    /// Whether a string comes next.
    pub(crate) fn is_string(&mut self) -> bool {
        self.place();
        self.byte() == Some(b'"')
    }

    /// A whole number from 0.
    pub(crate) fn whole(&mut self) -> Result<usize, ParseError> {
        let start = self.place();
        let mut value = 0_usize;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            let next = value.checked_mul(10).and_then(|value| value.checked_add(usize::from(digit - b'0')));
            let Some(next) = next else { return error(start, "the number is too large") };
            value = next;
            self.at += 1;
            if value == 0 && matches!(self.byte(), Some(b'0'..=b'9')) {
                return error(start, "a number has no leading zeros");
            }
        }
        if self.at == start || matches!(self.byte(), Some(b'.' | b'e' | b'E')) {
            return self.fail("expected a whole number");
        }
        Ok(value)
    }

    /// A string.
    pub(crate) fn string(&mut self) -> Result<String, ParseError> {
        self.expect(b'"', "a string")?;
        let mut value = String::new();
        loop {
            let start = self.at;
            while !matches!(self.byte(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            // Both ends stand beside an ASCII character or an end of the text, so the slice is one of characters.
            value.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => value.push(self.escape()?),
                Some(_) => return self.fail("a control character in a string must be escaped"),
                None => return self.fail("the string has no end"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let start = self.at;
        let letter = self.text.as_bytes().get(start + 1).copied();
        self.at += 2;
        Ok(match letter {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let mut code = self.four_digits(start)?;
                if (0xd800..0xdc00).contains(&code) && self.text.get(self.at..self.at + 2) == Some("\\u") {
                    self.at += 2;
                    let low = self.four_digits(start)?;
                    // A second half out of its range gives a code that is no character.
                    code = if (0xdc00..0xe000).contains(&low) {
                        0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                    } else {
                        code
                    };
                }
                match char::from_u32(code) {
                    Some(character) => character,
                    None => return error(start, "half of a surrogate pair stands alone"),
                }
            }
            _ => return error(start, "unknown escape in a string"),
        })
    }

    fn four_digits(&mut self, start: usize) -> Result<u32, ParseError> {
        let digits = self.text.get(self.at..self.at + 4).filter(|digits| !digits.starts_with('+'));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return error(start, "\\u needs four hexadecimal digits");
        };
        self.at += 4;
        Ok(code)
    }

    /// A list, whose entries `entry` reads.
    pub(crate) fn list<T>(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.expect(b'[', "a list")?;
        let mut entries = Vec::new();
        if self.passes(b']') {
            return Ok(entries);
        }
        loop {
            entries.push(entry(self)?);
            if self.passes(b']') {
                return Ok(entries);
            }
            self.expect(b',', "',' or ']'")?;
        }
    }

    /// A list of two different things.
    pub(crate) fn pair<A, B>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Result<A, ParseError>,
        second: impl FnOnce(&mut Self) -> Result<B, ParseError>,
    ) -> Result<(A, B), ParseError> {
        self.expect(b'[', "a pair [place, number]")?;
        let a = first(self)?;
        self.expect(b',', "','")?;
        let b = second(self)?;
        self.expect(b']', "']'")?;
        Ok((a, b))
    }

    /// An object with some of these keys, each at most once; `field` reads the value of one.
    pub(crate) fn object(
        &mut self,
        keys: &[&'static str],
        mut field: impl FnMut(&mut Self, &'static str) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.expect(b'{', "an object")?;
        let mut seen = Vec::new();
        if self.passes(b'}') {
            return Ok(());
        }
        loop {
            let start = self.place();
            let name = self.string()?;
            let Some(&key) = keys.iter().find(|&&key| key == name) else {
                return error(start, format!("unknown key; known here: {}", keys.join(", ")));
            };
            if seen.contains(&key) {
                return error(start, format!("the key \"{key}\" stands twice"));
            }
            seen.push(key);
            self.expect(b':', "':'")?;
            field(self, key)?;
            if self.passes(b'}') {
                return Ok(());
            }
            self.expect(b',', "',' or '}'")?;
        }
    }
}

/// An error at a byte of the text.
pub(crate) fn error<T>(at: usize, reason: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError { at, reason: reason.into() })
}

/// A string in quotes, escaped as JSON asks, always in the same way.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\0'..='\u{1f}' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
