//! An adapter for the crate kitoken, which loads the files of other libraries. It translates and computes nothing.

use base64::{Engine, engine::general_purpose::STANDARD};
use kitoken::convert::{ConversionError, convert_sentencepiece, convert_tokenizers};
use kitoken::{Configuration, DecodeError, Definition, EncodeError, InitializationError, Kitoken};
use protocol::{Adapter, Operation, Outcome, Refusal, ids, text, unsupported, utf8, version};
use serde_json::{Value, json};
use std::borrow::Cow;

/// What the library makes of a file, and what the model has otherwise than the file.
pub struct Model {
    /// Has the normalizers.
    config: Configuration,
    /// A tokenizer, or what one of an empty vocabulary would be made of.
    tokenizer: Result<Kitoken, Box<Definition>>,
    /// Whether control tokens are found in a text, and written: SentencePiece does neither.
    control: bool,
    /// Whether the library, which decodes as SentencePiece does, has the decoder of the model.
    decodes: bool,
    /// Whether what it does to the spaces of a text is the normalizer of the model, and no pre-tokenizer.
    normalizes: bool,
    /// Whether its splits are all of the pre-tokenizer: one that changes characters it has among its normalizers.
    splits: bool,
}

fn load(format: &str, content: &Value) -> Outcome<Model> {
    let definition = match format {
        "sentencepiece.model" => convert_sentencepiece(file(&content["files"][format])?),
        _ => convert_tokenizers(content.to_string()),
    };
    let definition = definition.map_err(reasoned)?;
    let (beside, control) = (content.get("beside"), format == "tokenizer.json");
    let stage = content["pre_tokenizer"].to_string();
    let changes = ["ByteLevel", "Metaspace"];
    Ok(Model {
        config: definition.config.clone(),
        control,
        decodes: beside.is_none_or(|told| told["decoder"]["type"] == "sentencepiece"),
        normalizes: beside.is_none_or(|told| told["normalizer"]["type"] == "sentencepiece"),
        splits: control && !changes.iter().any(|name| stage.contains(name)),
        tokenizer: tokenizer_of(definition)?,
    })
}

/// The bytes of a binary file.
fn file(packed: &Value) -> Outcome<Vec<u8>> {
    let bytes = packed["base64"]
        .as_str()
        .and_then(|digits| STANDARD.decode(digits).ok());
    bytes.ok_or_else(|| unsupported("reads a file, which comes in base64"))
}

/// A tokenizer is made where there is a vocabulary; of an empty one none can be made, and the library panics.
fn tokenizer_of(definition: Definition) -> Outcome<Result<Kitoken, Box<Definition>>> {
    if definition.model.vocab().is_empty() {
        return Ok(Err(Box::new(definition)));
    }
    let made = Kitoken::try_from(definition)
        .map_err(|error| reasoned(ConversionError::InitializationError(error)));
    Ok(Ok(made?))
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
        // A character map is not of its form, or not in base64; or an id is none.
        InvalidData(message)
            if message.starts_with("CharsMap data")
                || message.contains("Invalid symbol")
                || message.contains("expected u32") =>
        {
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
    model.tokenizer.as_ref().or_else(|definition| {
        let made = Kitoken::try_from(Definition::clone(definition));
        let kept = made.map(|tokenizer| &*Box::leak(Box::new(tokenizer)));
        kept.map_err(|error| reasoned(ConversionError::InitializationError(error)))
    })
}

fn normalize(model: &Model, input: &Value) -> Outcome<Value> {
    if !model.normalizes {
        return Err(unsupported(
            "makes marks of spaces when it normalizes with such a file",
        ));
    }
    let text = text(&input["text"])?;
    let mut normalized = Cow::from(text);
    model.config.normalize(&mut normalized, 0..usize::MAX); // as the library calls it for a whole text
    Ok(json!({ "text": normalized }))
}

fn pre_tokenize(model: &Model, input: &Value) -> Outcome<Value> {
    if !model.splits {
        return Err(unsupported(
            "changes characters when it normalizes, and splits a text into parts of it",
        ));
    }
    let text = text(&input["text"])?;
    model.config.validate().map_err(unsupported)?; // as it does when it makes a tokenizer
    let parts = model.config.split(text).into_iter();
    let pieces: Vec<_> = parts
        .map(|(start, end)| json!([text[start..end], start, end]))
        .collect();
    Ok(json!({ "pieces": pieces }))
}

fn encode(model: &Model, input: &Value) -> Outcome<Value> {
    let finds = match &input["allowed_special"] {
        Value::Null => model.control,
        Value::String(_) if model.control => true,
        Value::Array(some) if some.is_empty() => false,
        _ => return Err(unsupported("finds all special tokens in a text or none")),
    };
    let ids = tokenizer(model)?.encode(text(&input["text"])?, finds);
    let unknown = |error: EncodeError| Refusal("unknown_symbol", error.to_string());
    Ok(json!({ "ids": ids.map_err(unknown)? }))
}

/// Text of bytes as the library's README makes it, which refuses those that are not UTF-8.
fn decode(model: &Model, input: &Value) -> Outcome<Value> {
    Ok(json!({ "text": utf8(decoded(model, input)?)? }))
}

fn decode_bytes(model: &Model, input: &Value) -> Outcome<Value> {
    let bytes = decoded(model, input)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({ "bytes": digits }))
}

fn decoded(model: &Model, input: &Value) -> Outcome<Vec<u8>> {
    if !model.decodes {
        return Err(unsupported(
            "decodes \u{2581} as a space, whatever the model",
        ));
    }
    let tokenizer = tokenizer(model)?;
    let (ids, skips) = (ids(&input["ids"])?, input["skip_special_tokens"] == true);
    let bytes = tokenizer.decode(ids, model.control && !skips);
    let unknown = |error: DecodeError| Refusal("unknown_id", error.to_string());
    bytes.map_err(unknown)
}

pub fn adapter() -> Adapter<Model> {
    let hello = json!({
        "protocol": 1,
        "name": "kitoken",
        "version": version("kitoken"),
        "language": "Rust",
        "formats": ["tokenizer.json", "sentencepiece.model"],
        "reads_file": true,
        "encode_fields": ["ids"],
        "encode_options": ["allowed_special"],
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
            "normalizer/nmt",
            "normalizer/sentencepiece",
            "pre_tokenizer/split",
            "pre_tokenizer/digits",
            "pre_tokenizer/punctuation",
            "pre_tokenizer/whitespace",
            "model/bpe/fuse_unk",
            "model/bpe/byte_fallback",
            "model/bpe/end_of_word_suffix",
            "model/bpe/scores",
            "model/bpe/piece_types",
            "model/unigram/byte_fallback",
            "model/unigram/piece_types",
            "decoder",
        ],
        "choices": {
            "bert_clean_text": "all_c",
            "bpe_merge_order": "lowest_rank",
            "byte_level_added_tokens": "utf_8",
            "bpe_unknown_without_token": "dropped_after_merging",
            "duplicate_token": "last_place",
            "join_without_decoder": "nothing",
            "merge_outside_vocabulary": "ignored",
            "metaspace_leading_space": "removed",
            "offset_unit": "byte",
            "special_not_allowed": "passed_over",
            "unigram_tie": "earliest_start",
            "unigram_unknown": "run",
            "unigram_unknown_without_token": "dropped",
        },
    });
    let operations = &[
        ("normalize", normalize as Operation<_>),
        ("pre_tokenize", pre_tokenize),
        ("encode", encode),
        ("decode", decode),
        ("decode_bytes", decode_bytes),
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
