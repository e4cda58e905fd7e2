//! Asks published tokenizer libraries in Rust by their public interface; a second way beside the adapters.
//!
//! Reads JSON lines {"library", "operation", "model", "written": {FORMAT: content}, "input"} and answers each with a
//! line: {"answer": {...}}, {"error": "Type: message"} where the library refuses, with the type PanicException where
//! it panics, or {"not_offered": "why"}. A library that ends the process ends this program too.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kitoken::{Definition, Kitoken};
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

enum Failure {
    NotOffered(String), // the library has nothing for the request
    Refused(String),
}

type Answer<T = Value> = Result<T, Failure>;

fn not_offered<T>(why: impl Display) -> Answer<T> {
    Err(Failure::NotOffered(why.to_string()))
}

fn need(condition: bool, why: &str) -> Answer<()> {
    if condition { Ok(()) } else { not_offered(why) }
}

fn refused(error: impl Display) -> Failure {
    Failure::Refused(format!("Error: {error}"))
}

/// Refuses an input with an option that is not one of these.
fn takes(input: &Value, options: &[&str]) -> Answer<()> {
    let every = [
        "pair",
        "add_special_tokens",
        "allowed_special",
        "disallowed_special",
        "skip_special_tokens",
    ];
    match every
        .iter()
        .find(|option| input.get(option).is_some() && !options.contains(option))
    {
        Some(option) => not_offered(format!("no option {option}")),
        None => Ok(()),
    }
}

/// Neither library puts tokens around a text, or can be told to refuse special tokens in it.
fn takes_special(input: &Value) -> Answer<()> {
    takes(
        input,
        &[
            "add_special_tokens",
            "allowed_special",
            "disallowed_special",
        ],
    )?;
    need(
        input["add_special_tokens"] != true,
        "no option add_special_tokens",
    )?;
    let disallowed = &input["disallowed_special"];
    need(
        disallowed.is_null() || *disallowed == json!([]),
        "disallows no special token",
    )
}

fn text_of(value: &Value) -> Answer<&str> {
    value
        .as_str()
        .map_or_else(|| not_offered("no string of Rust"), Ok)
}

fn id_of(value: &Value) -> Answer<u32> {
    let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
    id.map_or_else(|| not_offered("ids have 32 bits"), Ok)
}

fn ids_of(input: &Value) -> Answer<Vec<u32>> {
    match &input["ids"] {
        Value::Array(ids) => ids.iter().map(id_of).collect(),
        _ => not_offered("decodes ids alone"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Asks kitoken, which reads a tokenizer.json; it needs no vocabulary to normalize.
fn kitoken(operation: &str, written: &Value, input: &Value) -> Answer {
    let file = &written["tokenizer.json"];
    need(
        file.is_object(),
        "the model is not written as tokenizer.json",
    )?;
    let definition =
        Definition::from_tokenizers_slice(file.to_string().as_bytes()).map_err(refused)?;
    if operation == "normalize" {
        let mut text = Cow::from(text_of(&input["text"])?);
        definition.config.normalize(&mut text, 0..usize::MAX);
        return Ok(json!({"text": text}));
    }
    if operation == "pre_tokenize" {
        let stage = file["pre_tokenizer"].to_string();
        let changes = ["ByteLevel", "Metaspace"]
            .iter()
            .any(|name| stage.contains(name));
        need(!changes, "a text that is changed is not split alone")?;
        let text = text_of(&input["text"])?;
        definition.config.validate().map_err(refused)?;
        let parts = definition.config.split(text).into_iter();
        let pieces: Vec<_> = parts
            .map(|(start, end)| json!([&text[start..end], start, end]))
            .collect();
        return Ok(json!({"pieces": pieces}));
    }
    let made = Kitoken::from_definition(definition).map_err(refused)?;
    match operation {
        "encode" => {
            takes_special(input)?;
            let allowed = &input["allowed_special"];
            let (all, none) = (allowed.is_null() || allowed == "all", *allowed == json!([]));
            need(all || none, "allows all special tokens or none")?;
            let ids = made.encode(text_of(&input["text"])?, all);
            Ok(json!({"ids": ids.map_err(refused)?}))
        }
        "decode" => {
            let special = input["skip_special_tokens"] != true;
            let bytes = made.decode(ids_of(input)?, special).map_err(refused)?;
            let text = String::from_utf8(bytes).map_err(refused)?; // as its README does
            Ok(json!({"text": text}))
        }
        "decode_bytes" => {
            let bytes = made.decode(ids_of(input)?, true).map_err(refused)?;
            Ok(json!({"bytes": hex(&bytes)}))
        }
        _ => not_offered(format!("no operation {operation}")),
    }
}

/// Tokens and ranks of a file, for tiktoken-rs reads none but its own.
fn ranks_of(file: &str) -> Answer<Vec<(Vec<u8>, u32)>> {
    let mut ranks = Vec::new();
    for line in file.lines() {
        let (token, rank) = line.split_once(' ').unwrap_or((line, ""));
        let token = if token == "=" { "" } else { token }; // an empty token
        let token = BASE64_STANDARD.decode(token).or_else(not_offered)?;
        ranks.push((token, rank.parse().or_else(not_offered)?));
    }
    Ok(ranks)
}

/// Content and id of special tokens that have no flag.
fn specials_of(beside: &Value) -> Answer<Vec<(String, u32)>> {
    let mut special = Vec::new();
    for (token, id) in beside["special_tokens"].as_object().into_iter().flatten() {
        special.push((token.clone(), id_of(id)?));
    }
    for token in beside["added_tokens"].as_array().into_iter().flatten() {
        need(
            token["special"] != false,
            "no added tokens that are not special",
        )?;
        let flags = ["normalized", "lstrip", "rstrip", "single_word"];
        need(
            flags.iter().all(|flag| token[flag] != true),
            "no flags of added tokens",
        )?;
        special.push((
            text_of(&token["content"])?.to_string(),
            id_of(&token["id"])?,
        ));
    }
    Ok(special)
}

/// Asks tiktoken-rs, which is given ranks, special tokens and a pattern.
fn tiktoken(operation: &str, written: &Value, input: &Value) -> Answer {
    let content = &written["vocab.tiktoken"];
    need(
        content.is_object(),
        "the model is not written as vocab.tiktoken",
    )?;
    let (file, beside) = (
        text_of(&content["files"]["vocab.tiktoken"])?,
        &content["beside"],
    );
    for (key, value) in beside.as_object().into_iter().flatten() {
        let known = [
            "type",
            "pre_tokenizer",
            "decoder",
            "special_tokens",
            "added_tokens",
            "post_processor",
            "pattern",
        ];
        let nothing = [json!(null), json!(false), json!(""), json!([]), json!({})].contains(value);
        need(
            known.contains(&key.as_str()) || nothing,
            &format!("no place for {key}"),
        )?;
    }
    let (stage, post) = (&beside["pre_tokenizer"], &beside["post_processor"]["type"]);
    need(post.is_null() || post == "byte_level", "no post-processor")?; // that of bytes changes spans alone
    let pattern = match beside["pattern"].as_str() {
        Some(pattern) => pattern,
        None => {
            need(stage["type"] == "byte_level", "no such pre-tokenizer")?;
            need(stage["add_prefix_space"] != true, "no prefix space")?;
            if stage["use_regex"] == false {
                r"[\s\S]+"
            } else {
                GPT2
            }
        }
    };
    let ranks = ranks_of(file)?.into_iter().collect();
    let made = CoreBPE::new(ranks, specials_of(beside)?.into_iter().collect(), pattern)
        .map_err(refused)?;
    match operation {
        "encode" => {
            takes_special(input)?;
            let text = text_of(&input["text"])?;
            let ids = match &input["allowed_special"] {
                Value::Array(none) if none.is_empty() => made.encode_ordinary(text),
                Value::Array(some) => {
                    let some: HashSet<&str> = some.iter().map(text_of).collect::<Answer<_>>()?;
                    made.encode(text, &some).map_err(refused)?.0
                }
                _ => made.encode_with_special_tokens(text),
            };
            Ok(json!({"ids": ids}))
        }
        "decode" => {
            takes(input, &[])?;
            Ok(json!({"text": made.decode(&ids_of(input)?).map_err(refused)?}))
        }
        "decode_bytes" => {
            Ok(json!({"bytes": hex(&made.decode_bytes(&ids_of(input)?).map_err(refused)?)}))
        }
        _ => not_offered(format!("no operation {operation}")),
    }
}

/// Whether there is a string {"hex": ...}, which has a lone surrogate.
fn has_surrogate(value: &Value) -> bool {
    match value {
        Value::Object(items) => {
            (items.len() == 1 && items.get("hex").is_some_and(Value::is_string))
                || items.values().any(has_surrogate)
        }
        Value::Array(items) => items.iter().any(has_surrogate),
        _ => false,
    }
}

fn ask(line: &str) -> Answer {
    let request: Value = serde_json::from_str(line).or_else(not_offered)?; // a surrogate may be in a key too
    need(
        !has_surrogate(&request),
        "strings of Rust have no lone surrogates",
    )?;
    let (operation, written, input) = (
        text_of(&request["operation"])?,
        &request["written"],
        &request["input"],
    );
    match text_of(&request["library"])? {
        "kitoken" => kitoken(operation, written, input),
        "tiktoken-rs" => tiktoken(operation, written, input),
        library => not_offered(format!("no library {library}")),
    }
}

fn message_of(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |message| message.to_string()),
    }
}

fn main() -> io::Result<()> {
    panic::set_hook(Box::new(|_| ()));
    for line in io::stdin().lines() {
        let line = line?;
        let reply = match panic::catch_unwind(AssertUnwindSafe(|| ask(&line))) {
            Ok(Ok(answer)) => json!({"answer": answer}),
            Ok(Err(Failure::NotOffered(why))) => json!({"not_offered": why}),
            Ok(Err(Failure::Refused(message))) => json!({"error": message}),
            Err(panic) => json!({"error": format!("PanicException: {}", message_of(panic))}),
        };
        writeln!(io::stdout(), "{reply}")?;
    }
    Ok(())
}
