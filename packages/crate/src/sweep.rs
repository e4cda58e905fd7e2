//! Sweeps: every entry of a vocabulary is asked, and the answers of each 64 are compared by a digest.

use crate::session::Adapter;
use crate::session::Reply::{self, Answer};
use crate::{Judge, list, text};
use serde_json::{Value, json};
use std::rc::Rc;

const BLOCK: u64 = 64;
const PARTS: [(&str, &str, &str); 3] =
    [("texts", "decode", "DEC-7"), ("ids", "encode", "ENC-1"), ("pairs", "encode", "ENC-1")];

/// What a case of a part is about.
fn why(part: &str, first: u64, last: u64) -> String {
    match part {
        "texts" => format!("each of the ids {first} to {last}, decoded alone"),
        "ids" => format!("the texts of the ids {first} to {last}; most come back as one id"),
        _ => format!("the texts of the ids {first} to {last}, each with another after it; most come back as two ids"),
    }
}

/// Returns a case for each part of each block on which the makers of a pack agree.
pub(crate) fn cases(sweep: &Value, name: &str, file: &str) -> Vec<Value> {
    let (size, digits) = (number(sweep, "size"), 4 * number(sweep, "size").div_ceil(BLOCK));
    for (part, ..) in PARTS {
        let there = text(&sweep[part]).len() as u64;
        assert!(there == digits, "{file}:1: sweep.{part} has {there} digits; {size} ids need {digits}");
    }
    let all = PARTS.iter().flat_map(|part| (0..number(sweep, "size").div_ceil(BLOCK)).map(move |block| (part, block)));
    // The digest of one part may be that of nothing by chance.
    let has_texts = |block| PARTS.iter().any(|(part, ..)| due(sweep, part, block) != digest(&[]));
    let is_due = |part: &str, block| due(sweep, part, block) != "...." && has_texts(block);
    let cases = all.filter(|((part, ..), block)| is_due(part, *block)).map(|((part, operation, clause), block)| {
        let ids = ids_of(sweep, block);
        json!({
            "id": format!("{name}-{part}-{block:04}"), "clauses": [clause], "why": why(part, ids.start, ids.end - 1),
            "model": name, "model_name": name, "operation": operation, "options": [], "input": {},
            "part": part, "block": block, "file": format!("{file}:1"),
        })
    });
    cases.collect()
}

/// What each id of a block alone is decoded to, empty where that is not a text of the sweep.
pub(crate) struct Block {
    texts: Vec<String>,
    is_right: bool,
    /// The reply to the first id.
    first: Reply<Value>,
}

impl<A: Adapter> Judge<'_, A> {
    /// Judges a block by its digest; ids only where the texts that they are of are right.
    pub(crate) fn judge_sweep(&mut self, case: &Value) -> (&'static str, String) {
        let (part, block) = (text(&case["part"]), number(case, "block"));
        if part == "texts" {
            let own = self.block(case, block);
            let texts = (block * BLOCK..).zip(&own.texts).filter(|(_, text)| !text.is_empty());
            let shown: Vec<String> = texts.map(|(id, text)| format!("{id} {}", json!(text))).collect();
            return match &own.first {
                failure if shown.is_empty() && !matches!(failure, Answer(_)) => {
                    self.judge_reply(case, failure, &Value::Null)
                }
                _ => self.compare(part, block, &digest_of_texts(&own.texts), &shown),
            };
        }
        if !list(&self.session.hello["encode_fields"]).contains(&json!("ids")) {
            return ("unsupported", "gives no ids".into());
        }
        let texts = match self.texts_of(case, part, block) {
            Ok(texts) => texts,
            Err(wrong) => {
                return ("unsupported", format!("the texts of block {wrong} are wrong or not decoded, so these ids cannot be judged"));
            }
        };
        let (mut found, mut shown) = (Vec::new(), Vec::new());
        let knows_option = list(&self.session.hello["encode_options"]).contains(&json!("add_special_tokens"));
        let option = self.sweep.get("add_special_tokens").filter(|_| knows_option);
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let mut input = json!({"text": text});
            if let Some(option) = option {
                input["add_special_tokens"] = option.clone();
            }
            match self.ask(case, "encode", input) {
                Answer(answer) => {
                    let ids = list(&answer["ids"]).iter().map(|id| id.as_f64().map_or(u32::MAX, |id| id as i64 as u32));
                    found.extend(ids.chain([u32::MAX]).flat_map(u32::to_le_bytes));
                    shown.push(format!("{} {}", json!(text), answer["ids"]));
                }
                failure => {
                    let (verdict, detail) = self.judge_reply(case, &failure, &Value::Null);
                    return (verdict, format!("{}: {detail}", json!(text)));
                }
            }
        }
        self.compare(part, block, &digest(&found), &shown)
    }

    /// Returns the texts that a case encodes, or a block that they are of and whose texts are wrong.
    fn texts_of(&mut self, case: &Value, part: &str, block: u64) -> Result<Vec<String>, u64> {
        let own = self.block(case, block);
        let mut texts = if own.is_right { own.texts.clone() } else { return Err(block) };
        for (id, text) in
            ids_of(self.sweep, block).zip(&mut texts).filter(|(_, text)| part == "pairs" && !text.is_empty())
        {
            let partner = id * number(self.sweep, "step") % number(self.sweep, "size");
            let other = self.block(case, partner / BLOCK);
            match other.texts[(partner % BLOCK) as usize].as_str() {
                _ if !other.is_right => return Err(partner / BLOCK),
                "" => text.clear(),
                second => text.push_str(second),
            }
        }
        Ok(texts)
    }

    /// Decodes the ids of a block, once.
    fn block(&mut self, case: &Value, block: u64) -> Rc<Block> {
        if let Some(made) = self.blocks.get(&block) {
            return made.clone();
        }
        let ids = ids_of(self.sweep, block);
        let mut replies: Vec<_> = ids.map(|id| self.ask(case, "decode", json!({"ids": [id]}))).collect();
        let text_of = |reply: &Reply<Value>| match reply {
            Answer(answer) => text(&answer["text"]).to_string(), // none of one with a lone surrogate, which is no string
            _ => String::new(),
        };
        let mut texts: Vec<String> = replies.iter().map(text_of).collect();
        texts.iter_mut().filter(|text| text.contains('\u{fffd}')).for_each(String::clear);
        let is_right = digest_of_texts(&texts) == due(self.sweep, "texts", block);
        let made = Rc::new(Block { texts, is_right, first: replies.swap_remove(0) });
        self.blocks.insert(block, made.clone());
        made
    }

    fn ask(&mut self, case: &Value, operation: &str, input: Value) -> Reply<Value> {
        self.session.ask(&json!({"model_name": case["model_name"], "operation": operation, "input": input}))
    }

    fn compare(&self, part: &str, block: u64, found: &str, shown: &[String]) -> (&'static str, String) {
        let due = due(self.sweep, part, block);
        match found == due {
            true => ("pass", String::new()),
            false => ("fail", format!("the digest {found} of these is not {due}: {}", shown.join(", "))),
        }
    }
}

fn ids_of(sweep: &Value, block: u64) -> std::ops::Range<u64> {
    block * BLOCK..number(sweep, "size").min((block + 1) * BLOCK)
}

fn due<'s>(sweep: &'s Value, part: &str, block: u64) -> &'s str {
    &text(&sweep[part])[4 * block as usize..][..4]
}

fn number(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or_default()
}

fn digest_of_texts(texts: &[String]) -> String {
    let texts = texts.iter().filter(|text| !text.is_empty());
    digest(&texts.flat_map(|text| text.bytes().chain([0])).collect::<Vec<u8>>())
}

/// Returns 16 bits of FNV-1a in 32 bits: the upper half xor the lower one.
fn digest(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    format!("{:04x}", (hash >> 16 ^ hash) & 0xffff)
}
