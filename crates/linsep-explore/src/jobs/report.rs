//! Reports as data for the page: the sentences of the command line.

use crate::server::App;
use crate::watch::worded;
use linsep::report::Block;
use serde_json::{Value, json};

pub(super) fn blocks(app: &App, blocks: &[Block]) -> Vec<Value> {
    let block = |block: &Block| match block {
        Block::Facts(facts) | Block::Details(facts) => {
            let facts: Vec<[String; 2]> =
                facts.iter().map(|(name, text)| [name.to_string(), worded(text)]).collect();
            json!({"facts": facts})
        }
        Block::Heading(text) => json!({"heading": worded(text)}),
        Block::Paragraph { text, .. } => json!({"paragraph": worded(text)}),
        Block::Item(text) => json!({"item": worded(text)}),
        Block::Text(text) => json!({"text": worded(text)}),
        Block::Job(spec) => json!({"command": (app.command)(spec)}),
        _ => Value::Null,
    };
    blocks.iter().map(block).filter(|block| !block.is_null()).collect()
}
