//! The protocol of spec/10-protocol.md: one JSON object a line in, one a line out. It can stay as it is.

use serde_json::{json, Value};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};

/// An answer that is no result.
pub struct Refusal(&'static str, String);

pub type Outcome<T> = Result<T, Refusal>;
pub type Operation<M> = fn(&M, &Value) -> Outcome<Value>;
pub type Load<M> = fn(&str, &Value) -> Outcome<M>;

pub fn refuse(reason: &'static str, message: impl ToString) -> Refusal {
    Refusal(reason, message.to_string())
}

/// A string. What JSON cannot carry, such as a lone surrogate, comes as {"hex": "…"}.
pub fn text(value: &Value) -> Outcome<&str> {
    let wrong = || refuse("unsupported", format!("this adapter takes no {value}"));
    value.as_str().ok_or_else(wrong)
}

/// Answers until it is told `bye`, or the input ends.
pub fn serve<M>(
    hello: &Value,
    load: Load<M>,
    operations: &[(&str, Operation<M>)],
) -> io::Result<()> {
    let mut models = HashMap::new();
    let mut perform = |request: &Value| match text(&request["op"])? {
        "hello" => Ok(hello.clone()),
        "load" => {
            let made = load(text(&request["format"])?, &request["content"])?;
            models.insert(text(&request["model"])?.to_string(), made);
            Ok(json!({}))
        }
        "bye" => Ok(json!({})),
        op => {
            let offered = operations.iter().find(|(name, _)| *name == op);
            let model = models.get(text(&request["model"])?);
            match (offered, model) {
                (Some((_, operation)), Some(model)) => operation(model, &request["input"]),
                (None, _) => Err(refuse("unsupported", format!("there is no operation {op}"))),
                _ => Err(refuse("unsupported", "no such model is loaded")),
            }
        }
    };
    for line in io::stdin().lock().split(b'\n') {
        let parsed = serde_json::from_slice::<Value>(&line?);
        let outcome = match &parsed {
            Ok(request) => perform(request),
            Err(error) => Err(refuse("unsupported", error)),
        };
        let mut reply = match outcome {
            Ok(result) => json!({ "ok": result }),
            Err(Refusal(reason, message)) => {
                json!({ "refused": { "reason": reason, "message": message } })
            }
        };
        let request = parsed.unwrap_or_default();
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
