//! Origins: libraries that formats come from. A tokenizer that wants to equal one may answer as it does (docs/cases.md).

use crate::known::Entry;
use crate::session::Reply::{self, Answer, Crashed, Refused};
use crate::{compare, list, text};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// An origin; without a name it has no answers.
#[derive(Default)]
pub(crate) struct Origin<'a> {
    /// Its name with its version.
    pub name: String,
    pub choices: Map<String, Value>,
    /// The reason and the answer by the id of a case or of a row.
    answers: HashMap<&'a str, (&'a str, &'a Value)>,
}

impl<'a> Origin<'a> {
    /// Finds an origin by its name. One that is not there is a panic.
    pub fn find(name: &str, origins: &'a Value) -> Self {
        if name.is_empty() {
            return Self::default();
        }
        let Some(found) = list(origins).iter().find(|each| each["origin"] == name) else {
            let known: Vec<_> = list(origins).iter().map(|each| text(&each["origin"])).collect();
            panic!("like: {name} is not an origin; there are {}", known.join(", "));
        };
        let mut choices = found["choices"].as_object().cloned().unwrap_or_default();
        choices.remove("offset_unit");
        let answers = list(&found["answers"]).iter().flat_map(|group| {
            let cases = group["cases"].as_object().into_iter().flatten();
            cases.map(|(id, answer)| (id.as_str(), (text(&group["reason"]), answer)))
        });
        Self { name: format!("{name} {}", text(&found["version"])), choices, answers: answers.collect() }
    }

    /// Says for what reason the origin gives this reply, which is not as specified; nothing if it does not.
    pub fn explain(
        &self,
        id: &str,
        case: &Value,
        reply: &Reply<Value>,
        outcome: &Value,
        hello: &Value,
        unit: &str,
    ) -> Option<String> {
        let (reason, known) = *self.answers.get(id)?;
        let is_same = match reply {
            Refused(_) if known.get("fault").is_some() => true, // a refusal is as good as a crash
            Refused(refusal) => known["refused"] == refusal.0,
            Crashed(_) => known["fault"] == "crash",
            Answer(result) => known.get("result").is_some_and(|fields| {
                let right = outcome["one_of"].get(0).unwrap_or(&outcome["expect"]);
                let mut right = right.as_object().cloned().unwrap_or_default();
                right.extend(fields.as_object().cloned().unwrap_or_default());
                let mut given = result.clone();
                if let Some(members) = given.as_object_mut().filter(|_| outcome.get("error").is_some()) {
                    members.retain(|key, _| right.contains_key(key));
                }
                compare::is_equal(case, &right.into(), &given, hello, unit)
            }),
        };
        is_same.then(|| format!("as {}: {reason}", self.name))
    }
}

/// The reason of a known failure, which may be that of an origin.
pub(crate) fn reason_of(entry: &Entry, origins: &Value) -> String {
    let Some(name) = entry.get("like") else { return entry["reason"].clone() };
    let (origin, case) = (Origin::find(name, origins), &entry["case"]);
    let mut found = origin.answers.iter().filter(|(id, _)| id.split('#').next() == Some(case));
    match found.next() {
        Some((_, (reason, _))) => format!("as {}: {reason}", origin.name),
        None => panic!("{} answers {case} as specified; give the reason instead", origin.name),
    }
}
