//! Asks an OpenAI-compatible endpoint with many streams at once: `reqwest-loop URL STREAMS REQUESTS TOKENS`.
//!
//! The way one would write it first: a task for each stream on a runtime of one thread, one client for all of them, lines
//! read as they come, every chunk parsed at once, times taken when a line is read. It is no part of the workspace, so that
//! what it depends on is built for the bench alone. Prints one JSON object, as `load_client.py` does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;

type Error = Box<dyn std::error::Error + Send + Sync>;

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

/// What one stream saw.
#[derive(Default)]
struct Seen {
    first: Vec<Duration>,
    gaps: Vec<Duration>,
    tokens: usize,
}

async fn ask(client: &reqwest::Client, url: &str, tokens: usize, seen: &mut Seen) -> Result<(), Error> {
    let body = serde_json::json!({
        "model": "calibration",
        "stream": true,
        "max_tokens": tokens,
        "messages": [{ "role": "user", "content": "Explain in a few sentences why the sky is blue." }],
    });
    let begin = Instant::now();
    let mut response = client.post(url).json(&body).send().await?.error_for_status()?;
    let (mut left, mut last): (Vec<u8>, Option<Instant>) = (Vec::new(), None);
    while let Some(bytes) = response.chunk().await? {
        left.extend_from_slice(&bytes);
        let mut done = 0;
        while let Some(end) = left[done..].iter().position(|byte| *byte == b'\n') {
            let line = &left[done..done + end];
            done += end + 1;
            let Some(data) = line.trim_ascii().strip_prefix(b"data:") else { continue };
            if data.trim_ascii() == b"[DONE]" {
                continue;
            }
            let chunk: Chunk = serde_json::from_slice(data)?;
            let content = chunk.choices.first().and_then(|choice| choice.delta.content.as_deref());
            if content.is_some_and(|text| !text.is_empty()) {
                let now = Instant::now();
                match last {
                    None => seen.first.push(now - begin),
                    Some(last) => seen.gaps.push(now - last),
                }
                last = Some(now);
                seen.tokens += 1;
            }
        }
        left.drain(..done);
    }
    Ok(())
}

fn at(values: &mut [Duration], share: f64) -> Option<f64> {
    values.sort_unstable();
    let place = (share * values.len() as f64) as usize;
    values.get(place.min(values.len().saturating_sub(1))).map(Duration::as_secs_f64)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, streams, requests, tokens] = words.as_slice() else {
        return Err("usage: reqwest-loop URL STREAMS REQUESTS TOKENS".into());
    };
    let url = Arc::new(format!("{url}/chat/completions"));
    let (streams, requests, tokens): (usize, usize, usize) =
        (streams.parse()?, requests.parse()?, tokens.parse()?);
    let (client, sent) = (reqwest::Client::new(), Arc::new(AtomicUsize::new(0)));
    let began = Instant::now();
    let tasks: Vec<_> = (0..streams)
        .map(|_| {
            let (client, url, sent) = (client.clone(), Arc::clone(&url), Arc::clone(&sent));
            tokio::spawn(async move {
                let mut seen = Seen::default();
                while sent.fetch_add(1, Ordering::Relaxed) < requests {
                    ask(&client, &url, tokens, &mut seen).await?;
                }
                Ok::<Seen, Error>(seen)
            })
        })
        .collect();
    let mut all = Seen::default();
    for task in tasks {
        let seen = task.await??;
        all.first.extend(seen.first);
        all.gaps.extend(seen.gaps);
        all.tokens += seen.tokens;
    }
    let first = serde_json::json!({ "p50": at(&mut all.first, 0.5), "p99": at(&mut all.first, 0.99) });
    let said = serde_json::json!({
        "took_s": began.elapsed().as_secs_f64(),
        "tokens": all.tokens,
        "first_token_s": first,
        "gap_s": { "p50": at(&mut all.gaps, 0.5) },
    });
    println!("{said}");
    Ok(())
}
