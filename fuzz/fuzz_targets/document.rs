#![no_main]

//! Plain texts, raw e-mails, HTML and mbox files.

use linsep::features::{Analysis, TermKind, TokenBuffer};
use linsep::read::{document_text, mbox_mails};
use std::path::Path;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let name = Path::new(["x", "x.eml", "x.html", "x.txt"][usize::from(choice & 3)]);
    let mut texts = Vec::new();
    if choice & 4 == 0 {
        texts.extend(document_text(name, bytes));
    } else {
        mbox_mails(bytes, 1 << 12, |mail| texts.extend(mail.and_then(|mail| document_text(name, &mail))));
    }
    let kind = if choice & 8 == 0 { TermKind::Words } else { TermKind::Characters };
    let analysis = Analysis { kind, ngrams: kind.usual_ngrams() };
    for text in texts {
        analysis.terms(&text, &mut TokenBuffer::default(), |term| assert!(!term.is_empty()));
    }
});
