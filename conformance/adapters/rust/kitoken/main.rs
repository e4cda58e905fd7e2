//! An adapter for the crate kitoken, which loads what Hugging Face tokenizers save. It translates and computes nothing.

use kitoken::convert::{ConversionError, convert_tokenizers};
use kitoken::{Configuration, DecodeError, Definition, EncodeError, InitializationError, Kitoken};
use protocol::{Adapter, Operation, Outcome, Refusal, ids, text, unsupported, utf8};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A configuration, which has the normalizers, and a tokenizer, or what one of an empty vocabulary would be made of.
pub struct Model(Configuration, Result<Kitoken, Box<Definition>>);

fn load(_format: &str, content: &Value) -> Outcome<Model> {
    let definition = convert_tokenizers(content.to_string()).map_err(reasoned)?;
    let config = definition.config.clone();
    if definition.model.vocab().is_empty() {
        return Ok(Model(config, Err(Box::new(definition))));
    }
    let tokenizer = Kitoken::try_from(definition)
        .map_err(|error| reasoned(ConversionError::InitializationError(error)))?;
    Ok(Model(config, Ok(tokenizer)))
}

/// Tells what an error of loading is a refusal for; any other is a crash.
fn reasoned(error: ConversionError) -> Refusal {
    use ConversionError::{
        InitializationError as Initialization, InvalidData, UnsupportedConfiguration,
    };
    match &error {
        UnsupportedConfiguration(_) | Initialization(InitializationError::InvalidConfig(_)) => {
            unsupported(error)
        }
        // The unknown token has to be a special one; and serde names a component that the library has not.
        InvalidData(message)
            if message.ends_with("not found in specials")
                || message.contains("unknown variant") =>
        {
            unsupported(error)
        }
        InvalidData(message) if message.contains("did not match any variant") => unsupported(error),
        // Its numbers have 32 bits.
        InvalidData(message) if message.ends_with("is too large") => unsupported(error),
        InvalidData(message) if message.starts_with("CharsMap data") => {
            Refusal("invalid_model", message.clone())
        }
        Initialization(InitializationError::InvalidEncoder) => {
            Refusal("invalid_model", error.to_string())
        }
        _ => panic!("{error}"),
    }
}

/// The tokenizer; of an empty vocabulary none can be made, and the library panics.
fn tokenizer(model: &Model) -> Outcome<&Kitoken> {
    model.1.as_ref().or_else(|definition| {
        let made = Kitoken::try_from(Definition::clone(definition));
        let kept = made.map(|tokenizer| &*Box::leak(Box::new(tokenizer)));
        kept.map_err(|error| reasoned(ConversionError::InitializationError(error)))
    })
}

fn normalize(model: &Model, input: &Value) -> Outcome<Value> {
    let text = text(&input["text"])?;
    let mut normalized = Cow::from(text);
    model.0.normalize(&mut normalized, 0..usize::MAX); // as the library calls it for a whole text
    Ok(json!({ "text": normalized }))
}

fn encode(model: &Model, input: &Value) -> Outcome<Value> {
    let ids = tokenizer(model)?.encode(text(&input["text"])?, true);
    let unknown = |error: EncodeError| Refusal("unknown_symbol", error.to_string());
    Ok(json!({ "ids": ids.map_err(unknown)? }))
}

fn decode(model: &Model, input: &Value) -> Outcome<Value> {
    let skips = input["skip_special_tokens"] == true;
    let bytes = tokenizer(model)?.decode(ids(&input["ids"])?, !skips);
    let unknown = |error: DecodeError| Refusal("unknown_id", error.to_string());
    Ok(json!({ "text": utf8(bytes.map_err(unknown)?)? }))
}

pub fn adapter() -> Adapter<Model> {
    let hello = json!({
        "protocol": 1,
        "name": "kitoken",
        "version": "0.11.1",
        "language": "Rust",
        "formats": ["tokenizer.json"],
        "reads_file": true,
        "encode_fields": ["ids"],
        "decode_options": ["skip_special_tokens"],
        // Not among them, for the library reads and does not use them: lstrip, rstrip and single_word of added tokens,
        // ignore_merges and continuing_subword_prefix of BPE, post-processors, truncation and padding. It reads
        // CharDelimiterSplit and the normalizer Strip by other names only, and has no WordLevel.
        "components": [
            "vocabulary_ids",
            "added_tokens/content",
            "added_tokens/id",
            "added_tokens/special",
            "added_tokens/normalized",
            "normalizer/replace",
            "normalizer/prepend",
            "normalizer/precompiled",
            "pre_tokenizer/split",
            "pre_tokenizer/digits",
            "pre_tokenizer/punctuation",
            "pre_tokenizer/whitespace",
            "model/bpe/fuse_unk",
            "model/bpe/byte_fallback",
            "model/bpe/end_of_word_suffix",
            "model/unigram/byte_fallback",
            "decoder",
        ],
        "choices": {
            "bpe_merge_order": "lowest_rank",
            "bpe_unknown_without_token": "dropped_after_merging",
            "duplicate_token": "last_place",
            "join_without_decoder": "nothing",
            "merge_outside_vocabulary": "ignored",
            "metaspace_leading_space": "removed",
            "unigram_tie": "earliest_start",
            "unigram_unknown": "run",
            "unigram_unknown_without_token": "dropped",
        },
    });
    let operations = &[
        ("normalize", normalize as Operation<_>),
        ("encode", encode),
        ("decode", decode),
    ];
    Adapter {
        hello,
        load,
        operations,
    }
}

fn main() -> std::io::Result<()> {
    adapter().serve()
}
