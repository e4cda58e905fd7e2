//! The protocol of spec/10-protocol.md: one JSON object a line in, one a line out.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An answer that is no result: the reason and a message.
pub struct Refusal(pub &'static str, pub String);

pub type Outcome<T> = Result<T, Refusal>;
pub type Operation<M> = fn(&M, &Value) -> Outcome<Value>;
pub type Load<M> = fn(&str, &Value) -> Outcome<M>;

/// The version of a crate that is part of this program, as its lock file has it.
pub fn version(name: &str) -> &'static str {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let rest = include_str!("Cargo.lock").split_once(&entry);
    rest.map_or("", |(_, rest)| &rest[..rest.find('"').unwrap_or(0)])
}

/// Refuses what the library does not offer.
pub fn unsupported(message: impl ToString) -> Refusal {
    Refusal("unsupported", message.to_string())
}

/// A string. What JSON cannot carry, such as a lone surrogate, comes as {"hex": "…"}.
pub fn text(value: &Value) -> Outcome<&str> {
    let wrong = || unsupported(format!("takes text, and no {value}"));
    value.as_str().ok_or_else(wrong)
}

/// A list of ids.
pub fn ids(value: &Value) -> Outcome<Vec<u32>> {
    let id = |id: &Value| u32::try_from(id.as_u64()?).ok();
    let list = value
        .as_array()
        .and_then(|list| list.iter().map(id).collect());
    list.ok_or_else(|| unsupported("takes a list of ids"))
}

/// The text of bytes, as callers make it of a library's that gives bytes alone.
pub fn utf8(bytes: Vec<u8>) -> Outcome<String> {
    String::from_utf8(bytes).map_err(|error| Refusal("invalid_input", error.to_string()))
}

/// What an adapter is made of; `hello` has its operations put in.
pub struct Adapter<M: 'static> {
    pub hello: Value,
    pub load: Load<M>,
    pub operations: &'static [(&'static str, Operation<M>)],
}

impl<M> Adapter<M> {
    /// Answers until it is told `bye`, or the input ends.
    pub fn serve(mut self) -> io::Result<()> {
        self.hello["operations"] = self.operations.iter().map(|(name, _)| *name).collect();
        let mut models = HashMap::new();
        for line in io::stdin().lock().split(b'\n') {
            let request = serde_json::from_slice(&line?).unwrap_or(Value::Null);
            let mut reply = self.answer(&request, &mut models);
            reply["id"] = request["id"].clone();
            let mut out = io::stdout().lock();
            writeln!(out, "{reply}")?;
            out.flush()?;
            if request["op"] == "bye" {
                break;
            }
        }
        Ok(())
    }

    /// Gives a reply without its id. A panic in the library is the crash of one request (PROTO-5).
    fn answer(&self, request: &Value, models: &mut HashMap<String, M>) -> Value {
        match catch_unwind(AssertUnwindSafe(|| self.perform(request, models))) {
            Ok(Ok(result)) => json!({ "ok": result }),
            Ok(Err(Refusal(reason, message))) => {
                json!({ "refused": { "reason": reason, "message": message } })
            }
            Err(panic) => {
                let message = panic.downcast_ref::<String>().map(String::as_str);
                let message = message.or(panic.downcast_ref::<&str>().copied());
                json!({ "crashed": { "message": message.unwrap_or("a panic") } })
            }
        }
    }

    fn perform(&self, request: &Value, models: &mut HashMap<String, M>) -> Outcome<Value> {
        match text(&request["op"])? {
            "hello" => Ok(self.hello.clone()),
            "load" => {
                let made = (self.load)(text(&request["format"])?, &request["content"])?;
                models.insert(text(&request["model"])?.to_string(), made);
                Ok(json!({}))
            }
            "bye" => Ok(json!({})),
            op => {
                let offered = self.operations.iter().find(|(name, _)| *name == op);
                let missing = || unsupported(format!("there is no operation {op}"));
                let (_, operation) = offered.ok_or_else(missing)?;
                let model = models.get(text(&request["model"])?);
                operation(
                    model.ok_or_else(|| unsupported("no such model is loaded"))?,
                    &request["input"],
                )
            }
        }
    }
}
