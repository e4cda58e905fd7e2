//! Judges replies that were recorded, one a case in the order of the cases: a check of the runner itself.

use serde_json::{Value, json};
use std::cell::RefCell;
use tokspec_cases::{Adapter, Refusal};

struct Recorded(Value, RefCell<std::vec::IntoIter<Value>>);

impl Adapter for Recorded {
    type Model = ();

    fn hello(&self) -> Value {
        self.0.clone()
    }

    fn load(&self, _format: &str, _content: &Value) -> Result<(), Refusal> {
        Ok(())
    }

    fn run(&self, _operation: &str, _model: &(), input: &Value) -> Result<Value, Refusal> {
        let reply = self.1.borrow_mut().next().expect("a reply for each case");
        if reply["exits"] == true {
            std::process::exit(0);
        }
        let message = reply["message"].as_str().unwrap_or("as recorded");
        if let Some(reason) = reply["refused"].as_str() {
            return Err(Refusal(reason.into(), message.into()));
        }
        assert!(reply["crashed"].is_null(), "{message}");
        assert!(reply["asked"].is_null() || reply["asked"] == *input, "was asked {input} and not {}", reply["asked"]);
        Ok(reply["ok"].clone())
    }
}

fn main() {
    let read = |name| std::env::var(name).map(|file| std::fs::read_to_string(file).expect("it is there"));
    let recording = read("RECORDING").expect("RECORDING names a file of hello and replies");
    let mut recording: Value = serde_json::from_str(&recording).expect("it is JSON");
    let replies = std::mem::replace(&mut recording["replies"], json!([])).as_array().cloned().unwrap_or_default();
    let adapter = Recorded(recording["hello"].clone(), RefCell::new(replies.into_iter()));
    let known = read("KNOWN_FAILURES").unwrap_or_default();
    match std::env::var("PACK") {
        Ok(pack) => {
            let model = std::env::var("MODEL").expect("MODEL names a tokenizer.json");
            tokspec_cases::run_pack(&adapter, &pack, model, &known).exit()
        }
        Err(_) => tokspec_cases::run(&adapter, &known).exit(),
    }
}
