//! What of two results is compared, and where they first differ (fixtures/README.md, "How to judge").

use crate::{list, text};
use serde_json::{Map, Value, json};

pub(crate) fn judge_answer(
    case: &Value,
    wanted: &[Value],
    given: &Value,
    hello: &Value,
    unit: &str,
) -> (&'static str, String) {
    let mut fields = fields_of(hello);
    let about: Vec<&str> = list(&case["fields"]).iter().map(text).collect();
    let (mut seen, mut first) = (Seen::default(), None);
    let mut is_right = false;
    for right in wanted {
        let (right, given) = compared(case, right, given, &fields, unit, &mut seen);
        let difference = difference_of(case, &right, &given);
        is_right |= difference.is_none();
        first = first.or(difference);
    }
    let declared = fields.join(", ");
    fields.retain(|name| *name != "spans" || !seen.lacks_spans); // not all encodings have them
    match first {
        Some(place) if !is_right => ("fail", format!("wrong answer: {place}")),
        _ if !seen.has_field && (!seen.has_spans || seen.lacks_spans) => {
            ("unsupported", format!("gives of {declared} nothing that the case checks"))
        }
        _ if !about.is_empty() && !about.iter().any(|name| fields.contains(name)) => {
            ("unsupported", format!("gives only {}, and the case is about {}", fields.join(", "), about.join(" or ")))
        }
        _ => ("pass", String::new()),
    }
}

/// Whether a result is an origin's, in the fields that both give; one without any of them is not.
pub(crate) fn is_equal(case: &Value, right: &Value, given: &Value, hello: &Value, unit: &str) -> bool {
    let (right, given) = compared(case, right, given, &fields_of(hello), unit, &mut Seen::default());
    given.as_object().is_some_and(|members| !members.is_empty()) && difference_of(case, &right, &given).is_none()
}

fn fields_of(hello: &Value) -> Vec<&str> {
    hello["encode_fields"].as_array().map_or(vec!["tokens"], |all| all.iter().map(text).collect())
}

/// Keeps of an expected and a given result what is compared; the spans of the first are in code points.
fn compared(
    case: &Value,
    right: &Value,
    given: &Value,
    fields: &[&str],
    unit: &str,
    seen: &mut Seen,
) -> (Value, Value) {
    let right = convert_spans(right, &case["input"], unit);
    if matches!(text(&case["operation"]), "encode" | "encode_batch") {
        return comparable(&right, given, fields, seen);
    }
    seen.has_field = true;
    comparable_pieces(&right, given)
}

/// Says where two values first differ, by the tolerance of a case or else of TERM-5.
fn difference_of(case: &Value, right: &Value, given: &Value) -> Option<String> {
    let tolerance = case.get("tolerance");
    let allowed = |key: &str| tolerance.map_or(1e-9, |own| own[key].as_f64().unwrap_or(0.0));
    difference(right, given, allowed("relative"), allowed("absolute"), "")
}

/// What of encodings was compared: other fields than spans; spans, and whether some encoding lacks them.
#[derive(Default)]
struct Seen {
    has_field: bool,
    has_spans: bool,
    lacks_spans: bool,
}

/// Keeps of an encoding what is declared and wanted, spans only where they are given; parts of encodings likewise.
fn comparable(right: &Value, given: &Value, fields: &[&str], seen: &mut Seen) -> (Value, Value) {
    let (mut ours, mut theirs) = (Map::new(), Map::new());
    for name in fields.iter().filter(|name| right.get(name).is_some()) {
        if *name == "spans" {
            seen.has_spans = true;
            if given.get("spans").is_none() {
                seen.lacks_spans = true;
                continue;
            }
        } else {
            seen.has_field = true;
        }
        ours.insert(name.to_string(), right[name].clone());
        given.get(name).map(|value| theirs.insert(name.to_string(), value.clone()));
    }
    for key in ["encodings", "overflowing"] {
        if right.get(key).is_none() || given.get(key).is_none() || (key == "overflowing" && !fields.contains(&key)) {
            continue;
        }
        seen.has_field |= key == "encodings" && list(&right[key]).is_empty(); // that there are none is the answer
        let (mut left, mut other) = (list(&right[key]).to_vec(), list(&given[key]).to_vec());
        for (one, two) in left.iter_mut().zip(other.iter_mut()) {
            (*one, *two) = comparable(one, two, fields, seen);
        }
        ours.insert(key.into(), left.into());
        theirs.insert(key.into(), other.into());
    }
    (ours.into(), theirs.into())
}

/// Keeps of pieces their texts alone, where they are given without spans.
fn comparable_pieces(right: &Value, given: &Value) -> (Value, Value) {
    let pieces = list(&given["pieces"]);
    if !pieces.iter().any(|piece| list(piece).len() == 1) {
        return (right.clone(), given.clone());
    }
    let texts = |from: &Value| {
        let firsts = list(&from["pieces"]).iter().map(|piece| json!([piece[0]]));
        json!({"pieces": firsts.collect::<Vec<_>>()})
    };
    (texts(right), texts(given))
}

/// Says where two values first differ; integers are compared exactly, other numbers by TERM-5.
fn difference(expected: &Value, actual: &Value, relative: f64, absolute: f64, path: &str) -> Option<String> {
    let inner = |key: String, one: Option<&Value>, two: Option<&Value>| match (one, two) {
        (Some(one), Some(two)) => difference(one, two, relative, absolute, &format!("{path}/{key}")),
        _ => Some(format!("{path}/{key}: expected {}, got {}", or_nothing(one), or_nothing(two))),
    };
    let is_same = match (expected, actual) {
        (Value::Object(one), Value::Object(two)) => {
            let keys = one.keys().chain(two.keys().filter(|key| !one.contains_key(*key)));
            return keys.into_iter().find_map(|key| inner(key.clone(), one.get(key), two.get(key)));
        }
        (Value::Array(one), Value::Array(two)) => {
            return (0..one.len().max(two.len()))
                .find_map(|index| inner(index.to_string(), one.get(index), two.get(index)));
        }
        (Value::Number(one), Value::Number(two)) => match (one.as_f64(), two.as_f64()) {
            (Some(wanted), Some(found)) if one.is_f64() => {
                (wanted - found).abs() <= absolute.max(relative * wanted.abs())
            }
            (wanted, found) => one == two || (two.is_f64() && wanted == found),
        },
        _ => expected == actual,
    };
    (!is_same).then(|| format!("{path}: expected {expected}, got {actual}"))
}

fn or_nothing(value: Option<&Value>) -> String {
    value.map_or("nothing".into(), Value::to_string)
}

/// Converts expected spans from code points to the unit of the implementation (TERM-3).
fn convert_spans(result: &Value, input: &Value, unit: &str) -> Value {
    let mut converted = result.clone();
    if let Some(encodings) = list_of(&mut converted, "encodings") {
        let rows = encodings.iter_mut().zip(list(&input["inputs"]));
        rows.for_each(|(encoding, row)| *encoding = convert_spans(encoding, row, unit));
    } else if unit != "code_point" {
        convert(&mut converted, &[places(&input["text"], unit), places(&input["pair"], unit)]);
    }
    converted
}

fn convert(part: &mut Value, tables: &[Vec<usize>; 2]) {
    let sequences = part.get("sequence_ids").cloned().unwrap_or_default();
    let move_to = |place: &mut Value, sequence: usize| {
        let index = place.as_u64().unwrap_or(0) as usize;
        *place = json!(tables[sequence].get(index).copied().unwrap_or(index));
    };
    for (index, span) in list_of(part, "spans").into_iter().flatten().enumerate() {
        let sequence = sequences[index].as_u64().unwrap_or(0) as usize;
        span.as_array_mut().into_iter().flatten().for_each(|place| move_to(place, sequence));
    }
    for piece in list_of(part, "pieces").into_iter().flatten() {
        piece.as_array_mut().into_iter().flatten().skip(1).for_each(|place| move_to(place, 0));
    }
    list_of(part, "overflowing").into_iter().flatten().for_each(|inner| convert(inner, tables));
}

fn list_of<'a>(part: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    part.get_mut(key).and_then(Value::as_array_mut)
}

/// The place of each character of a text, which may be written as {"hex"}, and of its end.
fn places(text: &Value, unit: &str) -> Vec<usize> {
    let bytes = match text["hex"].as_str() {
        Some(hex) => hex.as_bytes().chunks(2).filter_map(from_hex).collect(),
        None => text.as_str().unwrap_or_default().as_bytes().to_vec(),
    };
    let mut places = vec![0];
    for byte in bytes {
        let last = places.len() - 1;
        match byte & 0xc0 {
            0x80 => places[last] += usize::from(unit == "byte"),
            _ => places.push(places[last] + if unit == "utf16" && byte >= 0xf0 { 2 } else { 1 }),
        }
    }
    places
}

fn from_hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
