//! An adapter for the crate tiktoken-rs, the Rust within OpenAI's tiktoken as a crate. It translates and computes nothing.

use base64::{Engine, engine::general_purpose::STANDARD};
use protocol::{Adapter, Operation, Outcome, Refusal, ids, text, unsupported, version};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io;
use tiktoken_rs::{CoreBPE, DecodeKeyError};

/// Cuts as the byte-level pre-tokenizer does (PRE-BYTE-1); it is the library's own pattern for r50k_base.
const GPT2: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";

/// The library's tokenizer, and whether the model decodes bytes, as the library always does.
struct Model(CoreBPE, bool);

/// Leaves a text whole.
const WHOLE: &str = "(?s:.+)";

fn load(format: &str, content: &Value) -> Outcome<Model> {
    let (file, beside) = (text(&content["files"][format])?, &content["beside"]);
    let (pattern, cut) = (beside["pattern"].as_str(), &beside["pre_tokenizer"]);
    let is_byte_level = cut["type"] == "byte_level" && cut["add_prefix_space"] == false;
    if pattern.is_none() && !is_byte_level || beside["normalizer"] != Value::Null {
        let message = "cuts a text by one pattern, and has no normalizer and no prefix space";
        return Err(unsupported(message));
    }
    let whole_or_cut = if cut["use_regex"] == false {
        WHOLE
    } else {
        GPT2
    };
    let ranks: Option<HashMap<_, _>> = file.lines().map(entry).collect();
    let ranks = ranks.expect("lines of base64 and a rank");
    let special = special_tokens(beside, &ranks);
    let core = CoreBPE::new(
        ranks.into_iter().collect(),
        special,
        pattern.unwrap_or(whole_or_cut),
    );
    let core = core.expect("the library takes the ranks");
    let decodes = pattern.is_some() || beside["decoder"]["type"] == "byte_level";
    Ok(Model(core, decodes))
}

/// The special tokens of a model and its added ones, which are special too. One without an id is in the vocabulary.
fn special_tokens<Map: FromIterator<(String, u32)>>(
    beside: &Value,
    ranks: &HashMap<Vec<u8>, u32>,
) -> Map {
    let special = beside["special_tokens"].as_object().into_iter().flatten();
    let special = special.filter_map(|(token, id)| Some((token.clone(), id.as_u64()? as u32)));
    let added = beside["added_tokens"].as_array().into_iter().flatten();
    let added = added.filter_map(|token| {
        let content = token["content"].as_str()?;
        let id = token["id"].as_u64().map(|id| id as u32);
        Some((
            content.to_string(),
            id.or_else(|| ranks.get(&to_bytes(content)?).copied())?,
        ))
    });
    // A map of JSON has an order or not, as other crates have serde_json built; the library's own map keeps it in part.
    special
        .chain(added)
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .collect()
}

/// The bytes that a token of the vocabulary stands for (PRE-BYTE-3).
fn to_bytes(token: &str) -> Option<Vec<u8>> {
    let is_printed = |byte: &u8| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..);
    let others: Vec<u8> = (0..=0xff).filter(|byte| !is_printed(byte)).collect();
    let byte = |character: char| match u8::try_from(character) {
        Ok(byte) if is_printed(&byte) => Some(byte),
        _ => others
            .get((character as usize).checked_sub(0x100)?)
            .copied(),
    };
    token.chars().map(byte).collect()
}

/// Reads a line of the file: the library reads the files that it carries only.
fn entry(line: &str) -> Option<(Vec<u8>, u32)> {
    let (token, rank) = line.split_once(' ')?;
    let token = if token == "=" { "" } else { token }; // an empty token
    Some((STANDARD.decode(token).ok()?, rank.parse().ok()?))
}

fn encode(model: &Model, input: &Value) -> Outcome<Value> {
    let (text, allowed) = (text(&input["text"])?, &input["allowed_special"]);
    let ids = match allowed.as_array() {
        None => model.0.encode_with_special_tokens(text),
        Some(names) if names.is_empty() => model.0.encode_ordinary(text),
        Some(names) => {
            let names = names.iter().filter_map(Value::as_str).collect();
            let (ids, _) = model.0.encode(text, &names).expect("the text is encoded");
            ids
        }
    };
    Ok(json!({ "ids": ids }))
}

fn decode(model: &Model, input: &Value) -> Outcome<Value> {
    let decoded = core(model)?.decode(&ids(&input["ids"])?);
    let text = decoded.map_err(|error| {
        let reason = match error.downcast_ref::<DecodeKeyError>() {
            Some(_) => "unknown_id",
            None => "invalid_input", // its bytes are not UTF-8
        };
        Refusal(reason, error.to_string())
    });
    Ok(json!({ "text": text? }))
}

fn decode_bytes(model: &Model, input: &Value) -> Outcome<Value> {
    let unknown = |error: DecodeKeyError| Refusal("unknown_id", error.to_string());
    let bytes = core(model)?.decode_bytes(&ids(&input["ids"])?);
    let bytes = bytes.map_err(unknown)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({ "bytes": digits }))
}

/// The tokenizer of a model that decodes bytes.
fn core(model: &Model) -> Outcome<&CoreBPE> {
    let wrong = || unsupported("decodes bytes, and puts no spaces between tokens");
    model.1.then_some(&model.0).ok_or_else(wrong)
}

fn main() -> io::Result<()> {
    let operations = &[
        ("encode", encode as Operation<_>),
        ("decode", decode),
        ("decode_bytes", decode_bytes),
    ];
    let hello = json!({
        "protocol": 1,
        "name": "tiktoken-rs",
        "version": version("tiktoken-rs"),
        "language": "Rust",
        "formats": ["vocab.tiktoken"],
        "encode_fields": ["ids"],
        "encode_options": ["allowed_special"],
        "components": ["vocabulary_ids", "added_tokens/content", "added_tokens/id", "model/bpe/ignore_merges"],
        "choices": { "bpe_pairs": "in_vocabulary", "byte_level_added_tokens": "utf_8" },
    });
    Adapter {
        hello,
        load,
        operations,
    }
    .serve()
}
