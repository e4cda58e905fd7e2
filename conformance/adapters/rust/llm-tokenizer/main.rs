//! An adapter for the streams of the crate llm-tokenizer, which a router uses. It translates and computes nothing.

use llm_tokenizer::stop::{SequenceDecoderOutput, StopSequenceDecoderBuilder};
use llm_tokenizer::{DecodeStream, Tokenizer, create_tokenizer_from_file, traits};
use protocol::{Adapter, Operation, Outcome, ids, text, unsupported, version};
use serde_json::{Value, json};
use std::sync::Arc;

pub type Model = Arc<dyn traits::Tokenizer>;

fn load(_format: &str, content: &Value) -> Outcome<Model> {
    let name = format!("tokspec-{}-tokenizer.json", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, content.to_string()).expect("a file can be written");
    let made = create_tokenizer_from_file(&file.to_string_lossy());
    std::fs::remove_file(&file).expect("a file can be removed");
    Ok(made.unwrap_or_else(|error| panic!("{error:#}")))
}

/// The steps, each a list of ids.
fn steps(input: &Value) -> Outcome<Vec<Vec<u32>>> {
    match input["id_steps"].as_array() {
        Some(steps) => steps.iter().map(ids).collect(),
        None => Ok(ids(&input["ids"])?.into_iter().map(|id| vec![id]).collect()),
    }
}

/// A list of ids that may be absent.
fn some_ids(value: &Value) -> Outcome<Vec<u32>> {
    if value.is_null() {
        Ok(vec![])
    } else {
        ids(value)
    }
}

fn decode_stream(model: &Model, input: &Value) -> Outcome<Value> {
    if input["end"] != true {
        return Err(unsupported(
            "has streams that are ended, and holds text back until then",
        ));
    }
    let tokenizer = Tokenizer::from_arc(Arc::clone(model));
    let skips = input["skip_special_tokens"] == true;
    let mut stream = tokenizer.decode_stream(&some_ids(&input["prompt"])?, skips);
    let mut other = tokenizer.decode_stream(&[], skips);
    let mut beside = some_ids(&input["beside"])?.into_iter();
    let mut parts = vec![];
    for step in steps(input)? {
        if let Some(id) = beside.next() {
            added(&mut other, &[id]);
        }
        parts.push(added(&mut stream, &step));
    }
    let end = stream.flush().unwrap_or_else(|error| panic!("{error:#}"));
    Ok(json!({ "parts": parts, "end": end.unwrap_or_default() }))
}

fn added(stream: &mut DecodeStream, step: &[u32]) -> String {
    match step {
        [id] => stream.step(*id).map(Option::unwrap_or_default),
        _ => stream.step_batch(step).map(|chunks| chunks.concat()),
    }
    .unwrap_or_else(|error| panic!("{error:#}"))
}

fn decode_until(model: &Model, input: &Value) -> Outcome<Value> {
    if !input["prompt"].is_null() {
        return Err(unsupported("has no prompt where it looks for stops"));
    }
    let keeps = input["keep_stop"] == true;
    let mut builder = StopSequenceDecoderBuilder::new(Arc::clone(model))
        .skip_special_tokens(input["skip_special_tokens"] == true);
    for stop in input["stops"].as_array().into_iter().flatten() {
        let stop = text(stop)?;
        builder = if keeps {
            builder.visible_stop_sequence(stop)
        } else {
            builder.stop_sequence(stop)
        };
    }
    for id in some_ids(&input["stop_ids"])? {
        builder = if keeps {
            builder.visible_stop_token(id)
        } else {
            builder.stop_token(id)
        };
    }
    let mut decoder = builder.build();
    let (mut parts, mut stopped) = (vec![], Value::Null);
    for step in steps(input)? {
        let was_stopped = decoder.is_stopped();
        let outputs = decoder
            .process_tokens(&step)
            .unwrap_or_else(|error| panic!("{error:#}"));
        if decoder.is_stopped() && !was_stopped {
            // The last token that it looked at stopped it, or the string that it names.
            stopped = json!(step[outputs.len() - 1]);
        }
        parts.push(outputs.into_iter().map(shown).collect::<String>());
    }
    let end = decoder.finish().unwrap_or_else(|error| panic!("{error:#}"));
    if let Some(matched) = decoder.matched_stop() {
        stopped = json!(matched);
    }
    Ok(json!({ "parts": parts, "end": shown(end), "stopped": stopped }))
}

fn shown(output: SequenceDecoderOutput) -> String {
    match output {
        SequenceDecoderOutput::Text(text) | SequenceDecoderOutput::StoppedWithText(text) => text,
        SequenceDecoderOutput::Held | SequenceDecoderOutput::Stopped => String::new(),
    }
}

pub fn adapter() -> Adapter<Model> {
    let hello = json!({
        "protocol": 1,
        "name": "llm-tokenizer",
        "version": version("llm-tokenizer"),
        "language": "Rust",
        "formats": ["tokenizer.json"],
        "reads_file": true,
        "decode_options": [
            "skip_special_tokens", "id_steps", "prompt", "end", "beside", "stop_ids", "keep_stop",
        ],
        "components": [
            "vocabulary_ids", "added_tokens", "normalizer", "pre_tokenizer", "model", "post_processor", "truncation",
            "padding", "decoder",
        ],
        "choices": {
            "unknown_id": "skipped",
            "metaspace_leading_space": "removed_from_first_token",
        },
    });
    let operations = &[
        ("decode_stream", decode_stream as Operation<_>),
        ("decode_until", decode_until),
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
