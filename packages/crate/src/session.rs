//! A tokenizer being asked: what it does not offer is never asked, and its models are loaded once.

use crate::{list, text};
use serde_json::Value;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A reason of spec/09-errors.md, and a message.
#[derive(Clone)]
pub struct Refusal(pub String, pub String);

/// A tokenizer; a panic in it is a crash.
pub trait Adapter {
    type Model;
    /// What it offers, as spec/10-protocol.md describes it; it is asked for nothing else.
    fn hello(&self) -> Value;
    fn load(&self, format: &str, content: &Value) -> Result<Self::Model, Refusal>;
    fn run(&self, operation: &str, model: &Self::Model, input: &Value) -> Result<Value, Refusal>;
}

/// What came of asking: a result, a refusal or the message of a panic.
pub(crate) enum Reply<T> {
    Answer(T),
    Refused(Refusal),
    Crashed(String),
}
use Reply::{Answer, Crashed, Refused};

const TRAINING: [&str; 5] = ["train", "training_trace", "training_state", "best_pair", "prune_step"];

pub(crate) struct Session<'a, A: Adapter> {
    adapter: &'a A,
    written: &'a Value,
    pub hello: Value,
    models: HashMap<String, Reply<A::Model>>,
    /// The format in which each model was loaded.
    formats: HashMap<String, String>,
}

impl<'a, A: Adapter> Session<'a, A> {
    /// `written` has the models of the bundle, by format and name.
    pub fn new(adapter: &'a A, written: &'a Value) -> Self {
        Self { adapter, written, hello: adapter.hello(), models: HashMap::new(), formats: HashMap::new() }
    }

    pub fn ask(&mut self, case: &Value) -> Reply<Value> {
        let (adapter, name) = (self.adapter, text(&case["model_name"]));
        if let Some(reason) = self.find_unoffered(case) {
            return unsupported(reason);
        }
        if !self.models.contains_key(name) {
            let loaded = self.load(name, case);
            self.models.insert(name.into(), loaded);
        }
        // Where the file of a model says something else about the input than the model, it is not asked.
        let limit = self.formats.get(name).and_then(|format| case["limits"].get(format));
        match &self.models[name] {
            Answer(_) if limit.is_some() => unsupported(text(limit.expect("it is there")).into()),
            Answer(model) => attempt(|| adapter.run(text(&case["operation"]), model, &case["input"])),
            Refused(refusal) => Refused(refusal.clone()),
            Crashed(message) => Crashed(message.clone()),
        }
    }

    fn find_unoffered(&self, case: &Value) -> Option<String> {
        let (hello, operation, kind) = (&self.hello, &case["operation"], text(&case["model"]["type"]));
        if !list(&hello["operations"]).contains(operation) {
            return Some(format!("does not offer {}", text(operation)));
        }
        if let Some(other) = hello["other_trainers"].get(kind).filter(|_| TRAINING.contains(&text(operation))) {
            return Some(format!("trains {kind} by another algorithm: {}", text(other)));
        }
        let declared =
            |name: &&Value| ["encode_options", "decode_options"].iter().any(|key| list(&hello[key]).contains(name));
        let options = list(&case["options"]).iter().filter(|name| !declared(name)).map(text);
        let undeclared = if hello["reads_file"] == true { Vec::new() } else { self.find_undeclared(case) };
        let unknown: Vec<_> = options.chain(undeclared).collect();
        (!unknown.is_empty()).then(|| format!("does not know {}", unknown.join(", ")))
    }

    fn find_undeclared<'c>(&self, case: &'c Value) -> Vec<&'c str> {
        let covers = |each: &Value, name: &Value| format!("{}/", text(name)).starts_with(&format!("{}/", text(each)));
        let known = |name: &&Value| list(&self.hello["components"]).iter().any(|each| covers(each, name));
        list(&case["components"]).iter().filter(|name| !known(name)).map(text).collect()
    }

    /// Whether a library that reads files refused a model of which it declares every component.
    pub fn refuses_declared(&self, case: &Value) -> bool {
        let refused = matches!(self.models.get(text(&case["model_name"])), Some(Refused(_)));
        let has_components = !list(&case["components"]).is_empty() && self.find_undeclared(case).is_empty();
        self.hello["reads_file"] == true && refused && has_components && self.find_unoffered(case).is_none()
    }

    /// Loads a model in the first of the formats that can express it. A library that reads files gets what it does not
    /// declare too, but for the form that is no library's file. If it refuses that, it is unsupported.
    fn load(&mut self, name: &str, case: &Value) -> Reply<A::Model> {
        let (mut reasons, unknown) = (Vec::new(), self.find_undeclared(case));
        for format in list(&self.hello["formats"]) {
            if format == "tokspec" && !unknown.is_empty() {
                reasons.push(format!("does not know {}", unknown.join(", ")));
                continue;
            }
            let model = &self.written[text(format)][name];
            if let Some(content) = model.get("content") {
                self.formats.insert(name.into(), text(format).into());
                return match attempt(|| self.adapter.load(text(format), content)) {
                    Refused(Refusal(_, message)) if !unknown.is_empty() => unsupported(message),
                    reply => reply,
                };
            }
            reasons.push(model["unsupported"].as_str().unwrap_or("no models in this format are here").into());
        }
        unsupported(reasons.join("; "))
    }
}

fn unsupported<T>(message: String) -> Reply<T> {
    Refused(Refusal("unsupported".into(), message))
}

fn attempt<T>(call: impl FnOnce() -> Result<T, Refusal>) -> Reply<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(result)) => Answer(result),
        Ok(Err(refusal)) => Refused(refusal),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            Crashed(message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").into())
        }
    }
}
