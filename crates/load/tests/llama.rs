//! The client against a real server: llama.cpp's, with random weights. `scripts/llama-server` installs and starts it,
//! which needs Python and a package index, so these tests run only when asked for:
//! `cargo test -p assay-load --test llama -- --ignored`.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use assay_load::arrivals::{Arrivals, Conversations, Think};
use assay_load::prompts::{Length, Prompt, Prompts, Synthetic, Tokenizer};
use assay_load::request::{Api, Endpoint};
use assay_load::run::{Live, Load, Questions, run};
use assay_load::{ChunkKind, Exchange, FaultKind};

/// A server that ends with the test.
struct Llama {
    url: String,
    home: PathBuf,
}

fn script(home: &Path, what: &str) -> std::process::Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/llama-server");
    Command::new(script).arg(what).env("ASSAY_LLAMA_HOME", home).output().unwrap()
}

impl Llama {
    fn start() -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("llama-server");
        let output = script(&home, "start");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let url = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        Self { url, home }
    }

    fn tokenizer(&self) -> Arc<Tokenizer> {
        Arc::new(Tokenizer::open(&self.home.join("tokenizer.json")).unwrap())
    }

    /// Sends the requests and returns those with text, in order. A model of random weights may answer with bytes that
    /// are no text, which counts as an empty answer; no request may fail in any other way.
    fn ask(&self, questions: &dyn Questions, shape: impl FnOnce(&mut Load)) -> Vec<Exchange> {
        let mut load = Load::closed(Endpoint::new(&self.url, "tiny"), 1, 1);
        load.endpoints[0].fields.insert("ignore_eos".to_owned(), true.into());
        load.keep_answers = true;
        shape(&mut load);
        let kept = Mutex::new(Vec::new());
        let keep = |exchange: &Exchange| kept.lock().unwrap().push(exchange.clone());
        run(&load, questions, &Live::default(), &AtomicBool::new(false), &keep).unwrap();
        let mut exchanges = kept.into_inner().unwrap();
        exchanges.sort_by_key(|exchange| exchange.index);
        let sent = exchanges.len();
        exchanges.retain(|exchange| {
            let fault = exchange.fault.as_ref();
            assert!(fault.is_none_or(|fault| fault.kind == FaultKind::Empty), "{fault:?}");
            fault.is_none()
        });
        assert!(exchanges.len() * 4 >= sent * 3, "{} of {sent} answers have text", exchanges.len());
        exchanges
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        script(&self.home, "stop");
    }
}

/// Prompts whose answers have this many tokens.
fn prompts(count: usize, output: u32, tokenizer: &Tokenizer) -> Vec<Prompt> {
    let (prompt_tokens, output_tokens) = (Length::Between(10, 200), Length::Exactly(output));
    Synthetic { count, prompt_tokens, output_tokens, shared_tokens: 8, beginnings: 1 }
        .make(3, Some(tokenizer))
        .unwrap()
}

/// One test, because there is one server: streams, whole answers and conversations after each other.
#[test]
#[ignore = "installs and starts llama.cpp's server"]
fn a_real_server_is_measured() {
    let llama = Llama::start();
    let tokenizer = llama.tokenizer();
    let asked = Prompts::new(prompts(24, 16, &tokenizer), 7).unwrap().with_tokenizer(Arc::clone(&tokenizer));
    several_streams(&llama, &asked);
    exact_prompts(&llama, &asked);
    conversations(&llama);
    prompt_cache(&llama);
}

/// The server says how much of a prompt it had seen before, with its cache on and off.
fn prompt_cache(llama: &Llama) {
    let asked = Prompts::new(vec![Prompt::text("gold ore fire iron ".repeat(12))], 1).unwrap();
    let asked = asked.with_output_tokens(8);
    let cached = |is_on: bool| {
        let exchanges = llama.ask(&asked, |load| {
            load.endpoints[0].fields.insert("cache_prompt".to_owned(), is_on.into());
            load.requests = Some(6);
        });
        let usage = exchanges.iter().skip(1).filter_map(|exchange| exchange.usage);
        let shares = usage.map(|usage| usage.cached.unwrap_or(0) as f64 / usage.prompt.unwrap() as f64);
        shares.collect::<Vec<f64>>()
    };
    let (on, off) = (cached(true), cached(false));
    assert!(!on.is_empty() && on.iter().all(|share| *share > 0.5), "{on:?}");
    assert!(!off.is_empty() && off.iter().all(|share| *share == 0.0), "{off:?}");
}

fn several_streams(llama: &Llama, asked: &Prompts) {
    let exchanges = llama.ask(asked, |load| {
        load.arrivals = Arrivals::Closed { streams: 4 };
        load.requests = Some(24);
    });
    for exchange in &exchanges {
        let usage = exchange.usage.expect("usage");
        let output = usage.output.unwrap();
        assert_eq!(output, 16);
        assert_eq!(exchange.finish.as_deref(), Some("length"));
        // The server holds back the bytes of a character until it is whole, so a chunk may bring several tokens.
        let content = exchange.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Content);
        assert!(u64::from(content.map(|chunk| chunk.events).sum::<u32>()) <= output);
        let (first, last) = (exchange.first_token_at_s.unwrap(), exchange.last_token_at_s.unwrap());
        assert!(exchange.sent_at_s < first && first <= last && last <= exchange.end_at_s);
        let server = exchange.server.expect("times of the server");
        assert!(server.prompt_s.unwrap() > 0.0 && server.output_s.unwrap() > 0.0);
    }
}

/// What our tokenizer counts in a prompt is what the server counts.
fn exact_prompts(llama: &Llama, asked: &Prompts) {
    for stream in [true, false] {
        let exchanges = llama.ask(asked, |load| {
            load.endpoints[0].api = Api::Completions;
            load.endpoints[0].stream = stream;
            load.requests = Some(24);
        });
        for exchange in &exchanges {
            let wanted = asked.prompt(exchange.index).prompt_tokens.map(u64::from);
            assert_eq!(exchange.usage.unwrap().prompt, wanted);
        }
    }
}

fn conversations(llama: &Llama) {
    let mut prompt = Prompt::text("gold");
    prompt.later = vec!["ore".into(), "fire".into()];
    let asked = Prompts::new(vec![prompt], 1).unwrap().with_output_tokens(4);
    let think = Think::Constant(std::time::Duration::from_millis(10));
    let begin = Box::new(Arrivals::Closed { streams: 1 });
    let exchanges = llama.ask(&asked, |load| {
        load.arrivals = Arrivals::Conversations(Conversations { begin, turns: 3, think });
        load.requests = Some(2);
    });
    let follows = |pair: &&[Exchange]| {
        let [before, after] = [pair[0].conversation, pair[1].conversation].map(Option::unwrap);
        after == (before.0, before.1 + 1)
    };
    for pair in exchanges.windows(2).filter(follows) {
        assert!(
            pair[1].usage.unwrap().prompt > pair[0].usage.unwrap().prompt,
            "what was said before comes along"
        );
    }
}
