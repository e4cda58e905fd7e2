//! The cases without Python: kitoken by the adapter, and against the known failures, of the harness.

#[path = "../../../conformance/adapters/rust/kitoken/main.rs"]
#[allow(dead_code)] // its main
mod kitoken;

use serde_json::Value;
use tokspec_cases::{Adapter, Refusal};

struct Kitoken(protocol::Adapter<kitoken::Model>);

fn refusal(protocol::Refusal(reason, message): protocol::Refusal) -> Refusal {
    Refusal(reason.into(), message)
}

impl Adapter for Kitoken {
    type Model = kitoken::Model;

    fn hello(&self) -> Value {
        let mut hello = self.0.hello.clone();
        hello["operations"] = self.0.operations.iter().map(|(name, _)| *name).collect();
        hello
    }

    fn load(&self, format: &str, content: &Value) -> Result<kitoken::Model, Refusal> {
        (self.0.load)(format, content).map_err(refusal)
    }

    fn run(&self, operation: &str, model: &kitoken::Model, input: &Value) -> Result<Value, Refusal> {
        let (_, run) = self.0.operations.iter().find(|(name, _)| *name == operation).expect("it is offered");
        run(model, input).map_err(refusal)
    }
}

fn main() {
    let known = include_str!("../../../conformance/adapters/rust/kitoken/known-failures.yaml");
    tokspec_cases::run(&Kitoken(kitoken::adapter()), known).exit();
}
