//! Known failures: the file that `tokspec run --update-known-failures` writes, and the digest of what was seen.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) type Entry = HashMap<String, String>;

/// Reads the entries by case. A line that tokspec would not write is a panic.
pub(crate) fn read(file: &str) -> HashMap<String, Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in (1..).zip(file.lines()) {
        if line.is_empty() || line.starts_with('#') || line.starts_with("known_failures:") {
            continue;
        }
        if line.starts_with("  - ") {
            entries.push(Entry::new());
        }
        let pair = line.get(4..).and_then(|rest| rest.split_once(": "));
        let (Some(entry), Some((key, value))) = (entries.last_mut(), pair) else {
            panic!("line {number} of the known failures is not as tokspec run --update-known-failures writes it");
        };
        entry.insert(key.into(), serde_json::from_str(value).unwrap_or(value.into()));
    }
    entries.into_iter().map(|entry| (entry["case"].clone(), entry)).collect()
}

pub(crate) fn is_as_listed(entry: &Entry, verdict: &str, seen: &Value) -> bool {
    let hash = Sha256::digest(canonical(seen));
    let digest: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let is_past = entry.get("expires").is_some_and(|date| days(date) < today());
    entry["verdict"] == verdict && entry["digest"] == digest && !is_past
}

/// Writes a value as Python's json does with sorted keys, no spaces, and ASCII alone.
fn canonical(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let write = |(key, value): (&String, &Value)| format!("{}:{}", canonical(&json!(key)), canonical(value));
            format!("{{{}}}", members.iter().map(write).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) if number.is_f64() => {
            let written = format!("{:e}", number.as_f64().unwrap_or_default());
            let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
            match exponent.parse::<i32>().unwrap_or(0) {
                power if (-4..16).contains(&power) => format!("{:?}", number.as_f64().unwrap_or_default()),
                power => format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs()),
            }
        }
        other => {
            let escape = |unit: u16| if unit < 0x7f { char::from(unit as u8).into() } else { format!("\\u{unit:04x}") };
            other.to_string().encode_utf16().map(escape).collect()
        }
    }
}

fn today() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64 / 86_400)
}

/// Days from 1970-01-01 to a date such as 2030-12-31.
fn days(date: &str) -> i64 {
    let parts: Vec<i64> = date.split('-').map(|part| part.parse().expect("a date such as 2030-12-31")).collect();
    let (year, month) = if parts[1] > 2 { (parts[0], parts[1] - 3) } else { (parts[0] - 1, parts[1] + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + parts[2] - 719_469
}
