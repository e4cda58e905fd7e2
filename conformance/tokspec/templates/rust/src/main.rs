//! An adapter between tokspec and a tokenizer; protocol.rs speaks with the suite. README.md says what to do next.
//! Standard output belongs to the protocol: use eprintln. A panic counts as a crash.

mod protocol;

use protocol::{serve, text, Operation, Outcome};
use serde_json::{json, Value};

/// Your tokenizer. This template keeps the model as the suite wrote it.
type Model = Value;

/// The operations that you offer; spec/10-protocol.md lists what each takes and gives. What is absent is unsupported.
const OPERATIONS: &[(&str, Operation<Model>)] = &[
    // ("encode", encode),
    // ("decode_stream", decode_stream),
];

/// Characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may stand beside "tokens".
#[allow(dead_code)] // until the table names it
fn encode(_model: &Model, input: &Value) -> Outcome<Value> {
    let tokens: Vec<String> = text(&input["text"])?.chars().map(String::from).collect();
    Ok(json!({ "tokens": tokens }))
}

/// A detokenizer of a server, to which ids are added as they come. Put yours here; this one gives their numbers.
#[allow(dead_code)]
struct Stream;

#[allow(dead_code)]
impl Stream {
    fn new(_model: &Model) -> Self {
        Stream
    }

    fn add(&mut self, ids: &[Value]) -> String {
        ids.iter().map(|id| format!("{id} ")).collect()
    }

    fn end(&mut self) -> String {
        String::new()
    }
}

/// The text of ids as it becomes known with each step, and what the end of the stream gives.
#[allow(dead_code)] // until the table names it
fn decode_stream(model: &Model, input: &Value) -> Outcome<Value> {
    let list = |key: &str| input[key].as_array().cloned().unwrap_or_default();
    let (mut stream, mut other) = (Stream::new(model), Stream::new(model));
    stream.add(&list("prompt")); // its text is not shown
    let one_by_one = list("ids").into_iter().map(|id| json!([id])).collect();
    let steps = input["id_steps"].as_array().cloned().unwrap_or(one_by_one);
    let mut beside = list("beside").into_iter();
    let mut parts = Vec::new();
    for step in &steps {
        let next: Vec<Value> = beside.next().into_iter().collect();
        other.add(&next); // another stream, which has to share nothing with this one
        parts.push(stream.add(step.as_array().map_or(&[][..], |ids| ids)));
    }
    if input["end"] == true {
        return Ok(json!({ "parts": parts, "end": stream.end() }));
    }
    Ok(json!({ "parts": parts }))
}

fn load(_format: &str, content: &Value) -> Outcome<Model> {
    // Make your tokenizer here. A recipe, with yours in place of Mine:
    //     if content["type"] != "bpe" || !content["normalizer"].is_null() {
    //         return Err(refuse("unsupported", "has BPE alone, and no normalizers")); // what it does not have
    //     }
    //     Mine::new(&content["vocabulary"], &content["merges"])
    //         .map_err(|error| refuse("invalid_model", error)) // what it rejects; a panic is a crash
    Ok(content.clone())
}

fn main() -> std::io::Result<()> {
    let hello = json!({
        "protocol": 1,
        "name": "mine",
        "version": "0.1",
        "language": "Rust",
        "operations": OPERATIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        "formats": ["tokspec"], // or "tokenizer.json", which Hugging Face tokenizers save; the preferred first
        "encode_fields": ["tokens"], // add "ids" and "spans" as soon as encode gives them
        "decode_options": ["end", "id_steps", "prompt", "beside"], // "skip_special_tokens" too, if it knows that
        "choices": {}, // such as "bpe_merge_order": "lowest_rank"; spec/08-choices.md has them all
    });
    serve(&hello, load, OPERATIONS)
}
