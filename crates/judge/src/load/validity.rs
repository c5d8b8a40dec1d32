//! Whether a result can be trusted, as a whole and for single metrics. An invalid result is never ranked.

use super::EndpointSummary;

/// How far a result can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    Valid,
    /// Something may have distorted it.
    Suspect,
    /// It does not say what it should.
    Invalid,
}

impl Validity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Validity::Valid => "valid",
            Validity::Suspect => "suspect",
            Validity::Invalid => "invalid",
        }
    }
}

/// Why a result is doubtful.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// How much it weighs.
    pub validity: Validity,
    /// The metric that it concerns; none if it concerns all.
    pub metric: Option<&'static str>,
    /// What was seen.
    pub text: String,
    /// What to do.
    pub hint: &'static str,
}

/// The verdict on a result, with every reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The worst of the reasons.
    pub validity: Validity,
    /// The reasons.
    pub reasons: Vec<Reason>,
}

/// How the client did, as numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Client {
    /// How long bytes waited until they were read, at the 99th percentile, in seconds.
    pub client_lag_s: Option<f64>,
    /// How much later than intended requests were sent, at the 99th percentile, in seconds.
    pub schedule_lag_s: Option<f64>,
    /// Streams in flight / streams requested, on average over the measured window.
    pub in_flight: Option<f64>,
    /// The share of its core that the busiest thread needed.
    pub cpu: Option<f64>,
    /// Connections that were opened.
    pub connections: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Requests that were sent once more because the server had closed their idle connection.
    pub sent_again: u64,
    /// Connections that should have been enough; none if every request was to have its own.
    pub connections_expected: Option<u64>,
    /// The share of token events that have no timestamp of their own.
    pub merged: Option<f64>,
    /// The share of reads without a timestamp of the kernel.
    pub unstamped: Option<f64>,
    /// Output tokens that a trace asks for, as a mean over requests.
    pub trace_output_tokens: Option<f64>,
    /// Output tokens that a request allows at most.
    pub most_output_tokens: Option<f64>,
}

/// Judges one endpoint's result.
pub fn verdict(client: &Client, summary: &EndpointSummary) -> Verdict {
    let checks =
        [lag, schedule, in_flight, cpu, connections, unstamped, success, unfinished, outputs, excess, cache];
    let reasons: Vec<Reason> = checks.iter().filter_map(|check| check(client, summary)).collect();
    let weight = |reason: &Reason| match reason.metric {
        None => reason.validity,
        // The other metrics are as good as before.
        Some(_) => reason.validity.min(Validity::Suspect),
    };
    let validity = reasons.iter().map(weight).max().unwrap_or(Validity::Valid);
    Verdict { validity, reasons }
}

impl Verdict {
    /// The verdict on one metric.
    pub fn of(&self, metric: &str) -> Validity {
        let concerns = |reason: &&Reason| reason.metric.is_none_or(|one| one == metric);
        self.reasons.iter().filter(concerns).map(|reason| reason.validity).max().unwrap_or(Validity::Valid)
    }

    /// Why the whole result is invalid.
    pub fn worst(&self) -> Option<&Reason> {
        self.reasons.iter().find(|reason| reason.metric.is_none() && reason.validity == Validity::Invalid)
    }
}

/// Suspect from the first bound on, invalid from the second.
fn graded(value: f64, suspect: f64, invalid: f64) -> Option<Validity> {
    match value {
        value if value >= invalid => Some(Validity::Invalid),
        value if value >= suspect => Some(Validity::Suspect),
        _ => None,
    }
}

/// Late reading harms only where it merges stamps: the kernel's stamps stay true while the lag is below the gap. Events
/// that a server sends together are merged too, but then nobody was late. Merged stamps make gaps between chunks
/// wrong; TTFT, end-to-end latency and throughput stay right, so the result as a whole is suspect at most.
fn lag(client: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let (lag, merged) = (client.client_lag_s?, client.merged?);
    let gap = summary.itl.quantile(0.5)?;
    if merged < 0.02 || lag <= 0.5 * gap {
        return None;
    }
    let text = format!(
        "itl is not valid: {:.1} % of the tokens share a timestamp (read lag p99 {:.1} ms, a chunk every {:.1} ms); \
         ttft, e2e and throughput are not affected",
        merged * 100.0,
        lag * 1e3,
        gap * 1e3
    );
    let hint = "use more threads, fewer streams, or a machine with less other work";
    Some(Reason { metric: Some("itl"), validity: Validity::Invalid, text, hint })
}

fn schedule(client: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let late = client.schedule_lag_s?;
    let typical = summary.e2e_from_send.quantile(0.5)?;
    // Below a few milliseconds nobody's conclusion depends on it.
    let validity = graded(late / typical, 0.05, 0.5).filter(|_| late > 0.005)?;
    let text =
        format!("schedule lag p99 {:.1} ms, for requests that take {:.1} ms", late * 1e3, typical * 1e3);
    let hint = "allow more requests in flight, use more threads, or lower the rate";
    Some(Reason { metric: None, validity, text, hint })
}

/// Streams wait after a failure, so that says something of the client only where nothing failed.
fn in_flight(client: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let share = client.in_flight.filter(|_| !has_failures(summary))?;
    let validity = graded(1.0 - share, 0.05, 0.2)?;
    let text = format!("only {:.0} % of the requested streams were in flight", share * 100.0);
    Some(Reason {
        metric: None,
        validity,
        text,
        hint: "use more threads, or find out what delays connections",
    })
}

fn cpu(client: &Client, _: &EndpointSummary) -> Option<Reason> {
    let share = client.cpu?;
    let validity = graded(share, 0.8, 0.97)?;
    let text = format!("a client thread used {:.0} % of its core", share * 100.0);
    Some(Reason { metric: None, validity, text, hint: "use more threads with --threads" })
}

/// A connection that could not be made or was cut has to be made again, which is no matter of keep-alive.
fn connections(client: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let expected = client.connections_expected.filter(|_| !has_failures(summary))?;
    let is_many = client.connections > expected + expected / 2 + 2;
    is_many.then(|| Reason {
        metric: None,
        validity: Validity::Suspect,
        text: format!(
            "{} connections were opened for {} requests, where {expected} would do: connecting is part of the latencies{}",
            client.connections,
            client.requests,
            match client.sent_again {
                0 => String::new(),
                count => format!("; {count} requests met a connection that the server had closed, and were sent again"),
            }
        ),
        hint: "the server closes connections after an answer or while they are idle; see its keep-alive setting",
    })
}

fn unstamped(client: &Client, _: &EndpointSummary) -> Option<Reason> {
    let share = client.unstamped?;
    let validity = graded(share, 0.02, 2.0)?;
    let text = format!("{:.1} % of the reads have no kernel timestamp", share * 100.0);
    Some(Reason {
        metric: None,
        validity,
        text,
        hint: "times of those reads are those of the program, which may be late",
    })
}

/// Latencies are those of the requests that succeeded. Where others failed, that is not the load that was asked for.
fn success(_: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let success = summary.success;
    let failed = success.all - success.of;
    let validity = match (success.of, failed) {
        (0, 0) => Validity::Invalid,
        (_, 0) => return None,
        (of, failed) if of <= failed => Validity::Invalid,
        _ => Validity::Suspect,
    };
    let text = match success.of {
        0 if failed == 0 => "nothing was measured".to_owned(),
        0 => "no request succeeded".to_owned(),
        of => format!(
            "{failed} of {} requests failed: the metrics describe the {of} that succeeded",
            success.all
        ),
    };
    Some(Reason { metric: None, validity, text, hint: "the faults say why" })
}

/// Requests that were in flight when the load was stopped are the long ones rather than the short ones.
fn unfinished(_: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let count = summary.unfinished;
    let all = count + summary.success.all;
    let validity = graded(count as f64 / all as f64, 0.05, 2.0)?;
    let text =
        format!("{count} of {all} requests were unfinished when the load was stopped, and are left out");
    Some(Reason {
        metric: None,
        validity,
        text,
        hint: "long requests are more often left out: let the load end",
    })
}

/// A trace says how long answers are; a server that stops earlier is measured under another load.
fn outputs(client: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let wanted = client.trace_output_tokens?;
    let seen = mean_output_tokens(summary);
    let validity = graded((seen / wanted - 1.0).abs(), 0.1, f64::INFINITY)?;
    let text = format!("answers have {seen:.0} tokens on average, and the trace says {wanted:.0}");
    Some(Reason {
        metric: None,
        validity,
        text,
        hint: "--field ignore_eos=true makes vLLM, SGLang and llama.cpp write as many as the trace says",
    })
}

/// More tokens than a request allows: the server ignores the limit, or counts what it never sent.
fn excess(client: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let most = client.most_output_tokens?;
    let seen = mean_output_tokens(summary);
    let text = format!("answers have {seen:.0} tokens on average, and at most {most:.0} were requested");
    (seen > most * 1.01).then_some(Reason {
        metric: None,
        validity: Validity::Suspect,
        text,
        hint: "the server ignores the limit or miscounts: `--tokenizer` counts what it sent",
    })
}

fn mean_output_tokens(summary: &EndpointSummary) -> f64 {
    summary.tokens.output as f64 / (summary.tokens.by_server + summary.tokens.by_tokenizer) as f64
}

/// A prompt that was asked before is answered from the server's prefix cache.
fn cache(_: &Client, summary: &EndpointSummary) -> Option<Reason> {
    let share = summary.cached_share()?;
    let validity = graded(share, 0.1, 2.0)?;
    let text = format!("{:.0} % of the prompt tokens came from the server's cache", share * 100.0);
    Some(Reason {
        metric: None,
        validity,
        text,
        hint: "use prompts that the server has not seen, or say that this is what you measure",
    })
}

fn has_failures(summary: &EndpointSummary) -> bool {
    summary.success.of < summary.success.all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Collector, RequestResult, SloBounds, Window};

    fn summary(gap_s: f64) -> EndpointSummary {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        let arrivals = (0..50).map(|chunk| (0.1 + gap_s * f64::from(chunk), None)).collect();
        collector.add(&RequestResult {
            end_at_s: 1.0,
            arrivals,
            is_success: true,
            ..RequestResult::default()
        });
        collector.finish()
    }

    #[test]
    fn lateness_harms_only_where_it_merges() {
        let client = Client { client_lag_s: Some(0.003), merged: Some(0.3), ..Client::default() };
        assert_eq!(verdict(&client, &summary(0.020)).validity, Validity::Valid);
        let merged = verdict(&client, &summary(0.002));
        assert_eq!(merged.validity, Validity::Suspect);
        assert_eq!((merged.of("itl"), merged.of("ttft")), (Validity::Invalid, Validity::Valid));
        assert_eq!(merged.worst(), None);
        assert!(
            merged.reasons[0].text.starts_with("itl") && merged.reasons[0].text.contains("30.0 %"),
            "{merged:?}"
        );
    }

    #[test]
    fn a_load_in_which_a_part_failed_is_not_valid() {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let judged = |good: usize, bad: usize| {
            let mut collector = Collector::new(window, SloBounds::default());
            for index in 0..good + bad {
                collector.add(&RequestResult {
                    end_at_s: 1.0,
                    is_success: index < good,
                    ..RequestResult::default()
                });
            }
            // Streams that wait after a failure, and connections that were made again.
            let client = Client {
                in_flight: Some(0.3),
                connections: 90,
                connections_expected: Some(1),
                ..Client::default()
            };
            verdict(&client, &collector.finish())
        };
        let part = judged(9, 1);
        assert_eq!((part.validity, part.reasons.len()), (Validity::Suspect, 1));
        assert!(
            part.reasons[0].text.contains("1 of 10") && part.reasons[0].text.contains("the 9 that"),
            "{part:?}"
        );
        assert_eq!(judged(5, 5).validity, Validity::Invalid);
        assert_eq!(judged(0, 3).reasons[0].text, "no request succeeded");
    }

    #[test]
    fn cached_prompts_are_a_caveat() {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        let (prompt_tokens, cached_tokens) = (Some(528), Some(527));
        collector.add(&RequestResult {
            end_at_s: 1.0,
            is_success: true,
            prompt_tokens,
            cached_tokens,
            ..RequestResult::default()
        });
        let seen = verdict(&Client::default(), &collector.finish());
        assert_eq!(seen.validity, Validity::Suspect);
        assert!(seen.reasons[0].text.starts_with("100 % of the prompt tokens"), "{seen:?}");
    }

    #[test]
    fn answers_that_are_not_those_of_the_trace_are_a_caveat() {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        collector.add(&RequestResult {
            end_at_s: 1.0,
            is_success: true,
            output_tokens: Some(50),
            ..RequestResult::default()
        });
        let summary = collector.finish();
        let judged =
            |tokens| verdict(&Client { trace_output_tokens: Some(tokens), ..Client::default() }, &summary);
        assert_eq!(judged(52.0).validity, Validity::Valid);
        let short = judged(400.0);
        assert_eq!(short.validity, Validity::Suspect);
        assert!(short.reasons[0].text.contains("the trace says 400"), "{short:?}");
        let limited =
            |tokens| verdict(&Client { most_output_tokens: Some(tokens), ..Client::default() }, &summary);
        assert_eq!(limited(50.0).validity, Validity::Valid);
        let excessive = limited(8.0);
        assert_eq!(excessive.validity, Validity::Suspect);
        assert!(excessive.reasons[0].text.contains("at most 8 were requested"), "{excessive:?}");
    }

    #[test]
    fn every_check_has_its_reason() {
        let client = Client {
            schedule_lag_s: Some(0.2),
            in_flight: Some(0.7),
            cpu: Some(0.85),
            connections: 100,
            requests: 100,
            connections_expected: Some(4),
            unstamped: Some(0.5),
            ..Client::default()
        };
        let seen = verdict(&client, &summary(0.01));
        assert_eq!((seen.validity, seen.reasons.len()), (Validity::Invalid, 5));
        assert_eq!(verdict(&Client::default(), &summary(0.01)).reasons, []);
    }
}
