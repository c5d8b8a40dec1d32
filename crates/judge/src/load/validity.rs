//! Whether the client itself spoilt the result. A result that it spoilt is never ranked.

use super::Summary;

/// How far a result can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// The client was no part of the story.
    Valid,
    /// It may have been.
    Suspect,
    /// It was.
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
    /// Streams in flight by streams asked for, on average over the measured window.
    pub in_flight: Option<f64>,
    /// The share of its core that the busiest thread needed.
    pub cpu: Option<f64>,
    /// Connections that were opened.
    pub connections: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Of these, how many were sent once more because the server had given up the connection.
    pub sent_anew: u64,
    /// Connections that should have been enough; none if every request was to have its own.
    pub connections_expected: Option<u64>,
    /// The share of token events that have no time stamp of their own.
    pub merged: Option<f64>,
    /// The share of reads without a time stamp of the kernel.
    pub unstamped: Option<f64>,
}

/// Judges one endpoint's result.
pub fn verdict(client: &Client, summary: &Summary) -> Verdict {
    let checks = [lag, schedule, in_flight, cpu, connections, unstamped, success];
    let reasons: Vec<Reason> = checks.iter().filter_map(|check| check(client, summary)).collect();
    let validity = reasons.iter().map(|reason| reason.validity).max().unwrap_or(Validity::Valid);
    Verdict { validity, reasons }
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
/// that a server sends together are merged too, but then nobody was late.
fn lag(client: &Client, summary: &Summary) -> Option<Reason> {
    let (lag, merged) = (client.client_lag_s?, client.merged?);
    let gap = summary.itl.quantile(0.5)?;
    let validity = graded(merged, 0.02, 0.2).filter(|_| lag > 0.5 * gap)?;
    let text = format!(
        "{:.1} % of the tokens have no time stamp of their own: the client read up to {:.1} ms late (99th percentile) \
         and chunks come every {:.1} ms",
        merged * 100.0,
        lag * 1e3,
        gap * 1e3
    );
    Some(Reason {
        validity,
        text,
        hint: "use more threads, fewer streams, or a machine with less other work",
    })
}

fn schedule(client: &Client, summary: &Summary) -> Option<Reason> {
    let late = client.schedule_lag_s?;
    let typical = summary.e2e_from_send.quantile(0.5)?;
    // Below a few milliseconds nobody's conclusion depends on it.
    let validity = graded(late / typical, 0.05, 0.5).filter(|_| late > 0.005)?;
    let text = format!(
        "requests were sent up to {:.1} ms later than intended (99th percentile), beside {:.1} ms that they typically take",
        late * 1e3,
        typical * 1e3
    );
    Some(Reason {
        validity,
        text,
        hint: "allow more requests in flight, use more threads, or lower the rate",
    })
}

fn in_flight(client: &Client, _: &Summary) -> Option<Reason> {
    let share = client.in_flight?;
    let validity = graded(1.0 - share, 0.05, 0.2)?;
    let text = format!("only {:.0} % of the streams that were asked for were in flight", share * 100.0);
    Some(Reason {
        validity,
        text,
        hint: "use more threads, or look for what keeps connections from being made",
    })
}

fn cpu(client: &Client, _: &Summary) -> Option<Reason> {
    let share = client.cpu?;
    let validity = graded(share, 0.8, 0.97)?;
    let text = format!("a thread of the client needed {:.0} % of its core", share * 100.0);
    Some(Reason { validity, text, hint: "use more threads with --threads" })
}

fn connections(client: &Client, _: &Summary) -> Option<Reason> {
    let expected = client.connections_expected?;
    let is_many = client.connections > expected + expected / 2 + 2;
    is_many.then(|| Reason {
        validity: Validity::Suspect,
        text: format!(
            "{} connections were opened for {} requests where {expected} would do: connecting is part of the latencies",
            client.connections, client.requests
        ),
        hint: "the server closes connections after an answer or while they are idle; see its keep-alive setting",
    })
}

fn unstamped(client: &Client, _: &Summary) -> Option<Reason> {
    let share = client.unstamped?;
    let validity = graded(share, 0.02, 2.0)?;
    let text = format!("the kernel stamped {:.1} % of the reads not at all", share * 100.0);
    Some(Reason { validity, text, hint: "times of those reads are those of the program, which may be late" })
}

fn success(_: &Client, summary: &Summary) -> Option<Reason> {
    (summary.success.of == 0).then(|| Reason {
        validity: Validity::Invalid,
        text: "no request ended well".to_owned(),
        hint: "the faults below say why",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Bounds, Collector, Request, Window};

    fn summary(gap_s: f64) -> Summary {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let mut collector = Collector::new(window, Bounds::default());
        let arrivals = (0..50).map(|chunk| (0.1 + gap_s * f64::from(chunk), None)).collect();
        collector.add(&Request { end_at_s: 1.0, arrivals, is_success: true, ..Request::default() });
        collector.finish()
    }

    #[test]
    fn lateness_harms_only_where_it_merges() {
        let client = Client { client_lag_s: Some(0.003), merged: Some(0.3), ..Client::default() };
        assert_eq!(verdict(&client, &summary(0.020)).validity, Validity::Valid);
        let spoilt = verdict(&client, &summary(0.002));
        assert_eq!(spoilt.validity, Validity::Invalid);
        assert!(spoilt.reasons[0].text.contains("30.0 %"), "{spoilt:?}");
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
