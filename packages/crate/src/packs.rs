//! Packs: what a tokenizer made of texts, as a bundle whose one model is the user's.

use crate::sweep;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

const ENDING: &str = ".pack.jsonl";
const OPTIONS: [&str; 3] = ["pair", "add_special_tokens", "allowed_special"];

/// Reads a pack, which is a file or one of the names that come with the crate, with the tokenizer.json that it is of.
pub(crate) fn read(pack: &str, model: &Path, hello: &Value) -> Value {
    let file = find(pack);
    let written = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut rows = written.lines().map(|line| serde_json::from_str(line).expect("a line of a pack is JSON"));
    let header: Value = rows.next().expect("a pack has a header");
    let is_pack = header["tokspec_recording"] == 2 || header["tokspec_pack"] == 1;
    assert!(is_pack, "{}:1: is not the header of a pack", file.display());
    let stem =
        file.file_name().and_then(|name| name.to_str()).unwrap_or_default().split('.').next().unwrap_or_default();
    let (name, file) = (header["name"].as_str().unwrap_or(stem), file.display().to_string());
    let bytes = fs::read(model).unwrap_or_else(|error| panic!("{}: {error}", model.display()));
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let files = header["files"].as_object().into_iter().flat_map(Map::values);
    let is_of = files.chain([&header["model"]["sha256"]]).any(|each| *each == *digest);
    let due = &header["sweep"];
    if !is_of {
        let without = if due.is_null() { "" } else { ", so its sweep is left out" };
        eprintln!("{} is not the file that the pack {name} was made from{without}", model.display());
    }
    let can_leave_out =
        hello["encode_options"].as_array().is_some_and(|all| all.contains(&json!("add_special_tokens")));
    let mut seen = HashSet::new(); // a line that asks what an earlier one asked counts once
    let is_new = |(_, row): &(usize, Value)| {
        let options: Vec<&Value> = OPTIONS.iter().map(|option| &row[*option]).collect();
        seen.insert(json!([row["text"], options]).to_string())
    };
    // the footer has no ids, nor has what was refused
    let is_asked = |row: &Value| row["ids"].as_array().is_some_and(|ids| !ids.contains(&Value::Null));
    let rows = (2..).zip(rows).filter(|(_, row)| is_asked(row)).filter(is_new);
    let mut cases: Vec<Value> = rows.flat_map(|(line, row)| cases(&row, name, &file, line, can_leave_out)).collect();
    if is_of {
        cases.extend(sweep::cases(due, name, &file));
    }
    let content: Value = serde_json::from_slice(&bytes).expect("the tokenizer.json is JSON");
    json!({"cases": cases, "sweep": due, "models": {"tokenizer.json": {name: {"content": content}}}})
}

fn find(pack: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packs");
    let named = folder.join(format!("{pack}{ENDING}"));
    if Path::new(pack).is_file() { pack.into() } else { named }
}

/// A line is encoded, and its ids are decoded. Whoever cannot leave out what is added is taken to add nothing.
fn cases(row: &Value, name: &str, file: &str, line: usize, can_leave_out: bool) -> Vec<Value> {
    let take = |keys: &[&str]| -> Map<String, Value> {
        keys.iter().filter_map(|key| Some((key.to_string(), row.get(key)?.clone()))).collect()
    };
    let one = |operation: &str, clause: &str, options: &[&str], input: Value, expect: Value| {
        json!({
            "id": format!("{name}-{line:04}-{operation}"), "clauses": [clause], "why": row.get("why").or(row.get("from")).unwrap_or(&json!("")),
            "model": name, "model_name": name, "operation": operation, "options": options, "input": input,
            "outcome": {"expect": expect}, "file": format!("{file}:{line}"),
        })
    };
    let is_asked = |name: &&str| row.get(name).is_some_and(|value| *value != false || can_leave_out);
    let options: Vec<&str> = OPTIONS.into_iter().filter(is_asked).collect();
    let mut input = take(&options);
    input.insert("text".into(), row["text"].clone());
    let mut found = vec![one("encode", "ENC-1", &options, input.into(), take(&["ids", "type_ids"]).into())];
    let decoded = row.get("decoded").unwrap_or(&row["text"]);
    if !decoded.is_null() {
        found.push(one("decode", "DEC-7", &[], json!({"ids": row["ids"]}), json!({"text": decoded})));
    }
    found
}
