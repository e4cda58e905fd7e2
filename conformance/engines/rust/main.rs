//! Answers searches by the crates regex and fancy-regex: see patterns.py for what is asked. The first word of a question
//! is the crate.

use std::collections::HashMap;
use std::io::{BufRead, stdin};

type Spans = Vec<(usize, usize)>;

enum Engine {
    Plain(regex::Regex),
    Fancy(fancy_regex::Regex),
}

fn main() {
    let mut engines = HashMap::new(); // to compile a pattern takes longer than to search with it
    for line in stdin().lock().lines() {
        let line = line.unwrap();
        let parts: Vec<String> = line.split('\t').map(String::from).collect();
        let engine = engines.entry(parts[..2].to_vec()).or_insert_with(|| compile(&parts[0], &text(&parts[1])));
        let found = match engine {
            Ok(Engine::Plain(pattern)) => Ok(find_plain(pattern, &text(&parts[2]))),
            Ok(Engine::Fancy(pattern)) => find_fancy(pattern, &text(&parts[2])),
            Err(message) => Err(message.clone()),
        };
        match found {
            Ok(spans) => {
                let spans: Vec<String> = spans.iter().map(|(start, end)| format!("{start} {end}")).collect();
                println!("{}", spans.join(" "));
            }
            Err(message) => println!("! {}", message.lines().last().unwrap().trim_start_matches("error: ")),
        }
    }
}

fn compile(engine: &str, pattern: &str) -> Result<Engine, String> {
    match engine {
        "regex" => regex::Regex::new(pattern).map(Engine::Plain).map_err(|error| error.to_string()),
        _ => fancy_regex::Regex::new(pattern).map(Engine::Fancy).map_err(|error| error.to_string()),
    }
}

fn find_fancy(pattern: &fancy_regex::Regex, text: &str) -> Result<Spans, String> {
    let found = pattern.find_iter(text);
    found.map(|one| one.map(|one| (one.start(), one.end())).map_err(|error| error.to_string())).collect()
}

/// This crate has no look-ahead: a group `ahead` around `\s+` stands for `\s+(?!\S)`. It gives its last character
/// back, unless it ends the text.
fn find_plain(pattern: &regex::Regex, text: &str) -> Spans {
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some(groups) = pattern.captures_at(text, start) {
        let (first, mut end) = (groups.get(0).unwrap().start(), groups.get(0).unwrap().end());
        if groups.name("ahead").is_some() && end < text.len() {
            let last = text[..end].chars().next_back().unwrap().len_utf8();
            if end - last > first { // of one character nothing is left: it is for the alternative \s+ that follows
                end -= last;
            }
        }
        if end == first {
            break; // an empty match: no pattern here has any
        }
        found.push((first, end));
        start = end;
    }
    found
}

fn text(hex: &str) -> String {
    let digits = |place: usize| u8::from_str_radix(&hex[place..place + 2], 16).unwrap();
    String::from_utf8((0..hex.len()).step_by(2).map(digits).collect()).unwrap()
}
