//! Known failures: the file that `tokspec run --update-known-failures` writes, and the digest of what was seen.

use serde_json::{Deserializer, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) type Entry = HashMap<String, String>;

/// The entries by case and, if the file lists them, the cases that are unsupported.
#[derive(Default)]
pub(crate) struct Known {
    pub entries: HashMap<String, Entry>,
    pub unsupported: Option<HashSet<String>>,
}

/// Reads a file. A line that tokspec would not write is a panic.
pub(crate) fn read(file: &str) -> Known {
    let (mut known, mut case, mut is_of_faults) = (Known::default(), String::new(), false);
    for (number, line) in (1..).zip(file.lines()) {
        if let Some((heading, _)) = line.split_once(':').filter(|_| !line.starts_with(' ')) {
            is_of_faults = heading == "faults"; // no case shows what stands under it
        }
        let is_plain = line.is_empty() || line.trim_start().starts_with('#');
        if is_plain || is_of_faults || line.starts_with("known_failures:") {
            continue;
        }
        if let Some(inner) = line.strip_prefix("  - {").and_then(|rest| rest.strip_suffix('}')) {
            let entry: Entry = pairs(inner).collect();
            known.entries.insert(entry["case"].clone(), entry);
            continue;
        }
        let value = |written: &str| serde_json::from_str(written).unwrap_or(written.to_string());
        let pair = line.get(4..).filter(|rest| !rest.starts_with('"')).and_then(|rest| rest.split_once(": "));
        match (pair, line.strip_prefix("  - "), known.unsupported.as_mut()) {
            _ if line.starts_with("unsupported:") => known.unsupported = Some(HashSet::new()),
            (None, Some(name), Some(unsupported)) => _ = unsupported.insert(value(name)),
            (Some((key, written)), start, _) => {
                if start.is_some() {
                    case = value(written);
                }
                known.entries.entry(case.clone()).or_default().insert(key.into(), value(written));
            }
            _ => panic!("line {number} of the known failures is not as tokspec run --update-known-failures writes it"),
        }
    }
    known
}

/// The keys and values of an entry in one line.
fn pairs(mut rest: &str) -> impl Iterator<Item = (String, String)> {
    std::iter::from_fn(move || {
        let (key, after) = rest.split_once(": ")?;
        let mut values = Deserializer::from_str(after).into_iter();
        let value = values.next()?.expect("a value in quotes");
        rest = after[values.byte_offset()..].trim_start_matches(", ");
        Some((key.to_string(), value))
    })
}

/// Says whether a failure is listed; one of a sweep, of which nothing is seen but digests, by its verdict.
pub(crate) fn is_as_listed(entry: &Entry, verdict: &str, seen: &Value) -> bool {
    let hash = Sha256::digest(canonical(seen));
    let digest: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let is_past = entry.get("expires").is_some_and(|date| days(date) < today());
    entry["verdict"] == verdict && (seen.is_null() || entry["digest"] == digest) && !is_past
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
