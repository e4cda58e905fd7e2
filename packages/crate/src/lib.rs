//! Judges a tokenizer by the cases of the tokspec suite, each as a test of `cargo test`. docs/cases.md describes them.

mod compare;
mod known;
mod like;
mod packs;
mod session;
mod sweep;

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};
use like::Origin;
use serde_json::{Value, json};
use session::Reply::{self, Answer, Crashed, Refused};
use session::Session;
pub use session::{Adapter, Refusal};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The verdicts of rows, the worst first.
const SEVERITY: [&str; 6] = ["crash", "error", "fail", AS_ORIGIN, "unsupported", "pass"];

/// The verdicts of rows that a table can pass with.
const CONFORMING: [&str; 3] = ["pass", AS_ORIGIN, "unsupported"];

/// The verdict of an answer that is not as specified, and is the answer of the origin that `hello` names as `like`.
const AS_ORIGIN: &str = "as the origin";

const NOTHING: &str = "no case passed, and a run that shows nothing is not a pass";

/// Whether all is judged and told.
static IS_OVER: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn atexit(call: extern "C" fn()) -> i32; // of the C library, which every target of the standard library has
}

/// To cargo test an exit with status 0 is a pass, whatever was judged: an implementation that exits fails the tests.
extern "C" fn refuse_early_exit() {
    if !IS_OVER.load(SeqCst) {
        eprintln!("tokspec: the process was ended before all cases were judged; nothing judged is not a pass");
        std::process::abort();
    }
}

/// Runs a test for each case. `known_failures` is the text of a file that `tokspec run` wrote, or empty.
pub fn run<A: Adapter>(adapter: &A, known_failures: &str) -> Conclusion {
    judge_all(adapter, bundle(), known_failures)
}

/// Runs the tests of a pack, a file or one of the names that come with the crate, with the tokenizer.json that it is of.
pub fn run_pack<A: Adapter>(adapter: &A, pack: &str, model: impl AsRef<Path>, known_failures: &str) -> Conclusion {
    let mut asked = packs::read(pack, model.as_ref(), &adapter.hello());
    let mut whole = bundle();
    for key in ["choices", "operations", "origins"] {
        asked[key] = whole[key].take();
    }
    judge_all(adapter, asked, known_failures)
}

fn bundle() -> Value {
    serde_json::from_str(include_str!("../cases.json")).expect("the bundle")
}

fn judge_all<A: Adapter>(adapter: &A, bundle: Value, known_failures: &str) -> Conclusion {
    // SAFETY: the function takes no arguments, does not unwind, and lives as long as the process.
    unsafe { atexit(refuse_early_exit) };
    let known = known::read(known_failures);
    let mut judge = Judge::new(adapter, &bundle);
    let (mut trials, mut problems, mut passed, mut alike) = (Vec::new(), Vec::new(), false, 0);
    for case in list(&bundle["cases"]) {
        let id = text(&case["id"]);
        let (verdict, detail) = judge.judge(case, &known);
        passed |= verdict == "pass" || verdict == AS_ORIGIN;
        alike += i32::from(verdict == AS_ORIGIN);
        if verdict == "unsupported" && known.entries.contains_key(id) {
            problems.push(format!("{id} is listed as failing, and is unsupported"));
        } else if verdict == "unsupported" && known.unsupported.as_ref().is_some_and(|listed| !listed.contains(id)) {
            problems.push(format!("{id} is unsupported, and not listed as such"));
        }
        let detail = visible(&detail);
        let asked = visible(&json!([case["model"], case["operation"], case["input"], case["inputs"]]).to_string());
        let lines = if case["part"].is_null() {
            format!("{verdict}: {detail}\n  {}\n  asked {asked}\n  from {}", case["why"], case["file"])
        } else {
            format!("{verdict}: {detail}\n  {}", case["why"])
        };
        let kind = if verdict == AS_ORIGIN { format!("as {}", judge.origin.name) } else { String::new() };
        let trial = Trial::ignorable_test(id, move || match verdict {
            "pass" | AS_ORIGIN => Ok(Completion::Completed),
            "unsupported" | "known failure" => Ok(Completion::ignored_with(format!("{verdict}: {detail}"))),
            _ => Err(Failed::from(lines)),
        });
        trials.push(trial.with_kind(kind));
    }
    if alike > 0 {
        eprintln!("tokspec: {alike} as {}", judge.origin.name);
    }
    let ids: HashSet<&str> = list(&bundle["cases"]).iter().map(|case| text(&case["id"])).collect();
    let listed = known.entries.keys().chain(known.unsupported.iter().flatten());
    let stale = listed.filter(|id| !ids.contains(id.as_str()));
    problems.extend(stale.map(|id| format!("{id} is listed, but is not a case of the suite")));
    let unknown =
        list(&judge.session.hello["operations"]).iter().filter(|name| !list(&bundle["operations"]).contains(name));
    problems.extend(unknown.map(|name| format!("{} is not an operation", text(name))));
    if !passed {
        problems.push(NOTHING.into());
    }
    trials.push(Trial::test(
        "the run",
        move || {
            if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
        },
    ));
    let mut conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    if conclusion.num_ignored > 0 && conclusion.num_passed + conclusion.num_failed == 0 {
        eprintln!("tokspec: {NOTHING}"); // a filter has left out the test that says so
        conclusion.num_failed += 1;
    }
    IS_OVER.store(true, SeqCst);
    conclusion
}

struct Judge<'a, A: Adapter> {
    session: Session<'a, A>,
    choices: HashMap<String, String>,
    origin: Origin<'a>,
    origins: &'a Value,
    sweep: &'a Value,
    /// What is decoded in the sweep.
    blocks: HashMap<u64, Rc<sweep::Block>>,
}

impl<'a, A: Adapter> Judge<'a, A> {
    fn new(adapter: &'a A, bundle: &'a Value) -> Self {
        let session = Session::new(adapter, &bundle["models"]);
        let (mut choices, declared) = (HashMap::new(), &session.hello["choices"]);
        let origins = &bundle["origins"];
        let origin = Origin::find(text(&session.hello["like"]), origins);
        for choice in list(&bundle["choices"]) {
            let name = text(&choice["name"]);
            let option = text(declared.get(name).or(origin.choices.get(name)).unwrap_or(&choice["default"]));
            assert!(choice["options"].get(option).is_some(), "hello declares {name}={option}, which is no option");
            choices.insert(name.to_string(), option.to_string());
        }
        let strange = declared.as_object().into_iter().flatten().find(|(name, _)| !choices.contains_key(*name));
        assert!(strange.is_none(), "hello declares {strange:?}, which is no choice");
        Self { session, choices, origin, origins, sweep: &bundle["sweep"], blocks: HashMap::new() }
    }

    fn judge(&mut self, case: &Value, known: &known::Known) -> (&'static str, String) {
        let id = text(&case["id"]);
        let is_error = known.entries.get(id).is_some_and(|entry| entry["verdict"] == "error");
        let (verdict, detail, seen) = match case.get("inputs") {
            Some(inputs) => self.judge_table(case, list(inputs), is_error),
            None if case.get("part").is_some() => {
                let (verdict, detail) = self.judge_sweep(case);
                (verdict, detail, Value::Null)
            }
            None => self.judge_question(case, id, is_error),
        };
        let is_unsupported = known.unsupported.as_ref().is_some_and(|listed| listed.contains(id));
        match known.entries.get(id) {
            entry if ["pass", AS_ORIGIN].contains(&verdict) && (entry.is_some() || is_unsupported) => {
                ("unexpected pass", "passes, and is listed as if it did not".into())
            }
            None => (verdict, detail),
            Some(_) if verdict == "unsupported" => (verdict, detail),
            Some(entry) if known::is_as_listed(entry, verdict, &seen) => {
                ("known failure", like::reason_of(entry, self.origins))
            }
            Some(_) => (verdict, detail + " (and not as it is listed)"),
        }
    }

    /// Judges each row; the table comes to the worst of them, and is listed by all that fail.
    fn judge_table(&mut self, case: &Value, inputs: &[Value], is_error: bool) -> (&'static str, String, Value) {
        let (mut rows, mut failing) = (Vec::new(), Vec::new());
        for (number, row) in (1..).zip(inputs) {
            let mut question = case.clone();
            row.as_object().into_iter().flatten().for_each(|(key, value)| question[key] = value.clone());
            let id = format!("{}#{number}", text(&case["id"]));
            let (verdict, detail, seen) = self.judge_question(&question, &id, is_error);
            if !CONFORMING.contains(&verdict) {
                failing.push(json!([number, seen[0], seen[1]]));
            }
            rows.push((verdict, format!("row {number}: {detail}"), seen));
        }
        let severity = |verdict| SEVERITY.iter().position(|each| *each == verdict);
        let (verdict, detail, seen) = rows.into_iter().min_by_key(|row| severity(row.0)).expect("a table has rows");
        (verdict, detail, if failing.is_empty() { seen } else { failing.into() })
    }

    /// A model refused though all its components are declared is unsupported, or an error. tokspec run tells which by
    /// asking without them; here it is an error where the known failures list one (`is_error`).
    fn judge_question(&mut self, question: &Value, id: &str, is_error: bool) -> (&'static str, String, Value) {
        let reply = self.session.ask(question);
        let (outcome, unit) = (self.resolve(&question["outcome"]), &self.choices["offset_unit"]);
        let (mut verdict, mut detail) = self.judge_reply(question, &reply, outcome);
        let hello = &self.session.hello;
        if !CONFORMING.contains(&verdict)
            && let Some(reason) = self.origin.explain(id, question, &reply, outcome, hello, unit)
        {
            (verdict, detail) = (AS_ORIGIN, reason);
        }
        if is_error && verdict == "unsupported" && self.session.refuses_declared(question) {
            verdict = "error";
        }
        let seen = match reply {
            Answer(result) => result,
            Refused(Refusal(reason, _)) => json!(reason),
            Crashed(_) => json!("crash"),
        };
        (verdict, detail, json!([verdict, seen]))
    }

    /// Returns what is right under the choices.
    fn resolve<'o>(&self, mut outcome: &'o Value) -> &'o Value {
        while let Some((name, options)) = outcome["by_choice"].as_object().and_then(|options| options.iter().next()) {
            outcome = &options[&self.choices[name]];
        }
        outcome
    }

    fn judge_reply(&self, case: &Value, reply: &Reply<Value>, outcome: &Value) -> (&'static str, String) {
        let error = outcome["error"].as_str();
        let due = error.map_or("a result is due".into(), |reason| format!("a refusal as {reason} is due"));
        match reply {
            Crashed(message) => ("crash", message.clone()),
            Refused(Refusal(reason, message)) if reason == "unsupported" => ("unsupported", message.clone()),
            Refused(Refusal(reason, _)) if error == Some(reason) => ("pass", String::new()),
            Refused(Refusal(reason, message)) => ("error", format!("refused as {reason} where {due}: {message}")),
            Answer(result) if error.is_some() => ("fail", format!("answers where {due}: {result}")),
            Answer(result) => {
                let only = [outcome["expect"].clone()];
                let wanted = outcome["one_of"].as_array().map_or(&only[..], |all| all);
                compare::judge_answer(case, wanted, result, &self.session.hello, &self.choices["offset_unit"])
            }
        }
    }
}

/// Writes a text on one line of a terminal or a log, in which nothing can move a cursor, hide or give a command.
fn visible(text: &str) -> String {
    let escape = |each: char| if "\\\"'".contains(each) { each.to_string() } else { each.escape_debug().to_string() };
    text.chars().map(escape).collect()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}
