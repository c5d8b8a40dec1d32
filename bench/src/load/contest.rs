//! All clients on the same work, in turns: what they cost, and how far what they say is from the truth.

use super::client::{Client, ClientWork, Said, run};
use super::server::{Endpoint, at, first_tokens};
use crate::figures::{MedianAndRange, number, table};
use crate::place::Place;

/// One case of the contest.
#[derive(Debug, Clone, Copy)]
pub struct LoadCase {
    /// What it is.
    pub title: &'static str,
    /// Options of the endpoint.
    pub endpoint: &'static [&'static str],
    /// What is asked of this program.
    pub work: ClientWork,
    /// What is asked of others, some of which would take hours for as much.
    pub others: ClientWork,
    /// The requests per second that the schedule allows; none for an endpoint without one.
    pub ideal: Option<f64>,
}

/// One turn of one client.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Who.
    pub client: Client,
    /// What was asked.
    pub work: ClientWork,
    /// What it did.
    pub said: Said,
    /// The true time to first token: median and 99th percentile, in seconds.
    pub truth: Option<(f64, f64)>,
}

/// All turns of a case.
#[derive(Debug)]
pub struct CaseOutcome {
    case: LoadCase,
    turns: Vec<Turn>,
    /// Clients that could not do the work, with the reason.
    pub troubles: Vec<String>,
}

/// Lets all clients do the work, round by round.
pub fn contest(case: LoadCase, rounds: usize, place: &Place) -> anyhow::Result<CaseOutcome> {
    let mut outcome = CaseOutcome { case, turns: Vec::new(), troubles: Vec::new() };
    let mut present = Vec::new();
    for client in Client::ALL {
        match client.program(place) {
            Ok(_) => present.push(client),
            Err(reason) => outcome.troubles.push(format!("{}: {reason}", client.name())),
        }
    }
    for round in 0..rounds {
        // Every other round goes backwards, so that nobody is always first.
        let order: Vec<Client> =
            if round % 2 == 0 { present.clone() } else { present.iter().rev().copied().collect() };
        for client in order {
            let endpoint = Endpoint::start(place, case.endpoint)?;
            let work = if client == Client::Assay { case.work } else { case.others };
            match run(client, place, &endpoint.url, work) {
                Ok(said) => {
                    let first = first_tokens(&endpoint.stop()?);
                    let truth = at(&first, 0.5).zip(at(&first, 0.99));
                    outcome.turns.push(Turn { client, work, said, truth });
                }
                Err(error) => {
                    outcome.troubles.push(format!("{}: {error}", client.name()));
                    present.retain(|known| *known != client);
                }
            }
        }
    }
    Ok(outcome)
}

impl CaseOutcome {
    fn of(&self, client: Client, value: impl Fn(&Turn) -> Option<f64>) -> Option<MedianAndRange> {
        let of_client = self.turns.iter().filter(|turn| turn.client == client);
        MedianAndRange::of(&of_client.filter_map(value).collect::<Vec<_>>())
    }

    /// CPU seconds for a million tokens.
    pub fn cpu_per_million(&self, client: Client) -> Option<MedianAndRange> {
        self.of(client, |turn| Some(turn.said.cpu_s / turn.work.all_tokens() * 1e6))
    }

    /// The share of its CPU time that the kernel worked, most of it to receive and acknowledge tokens.
    pub fn kernel_share(&self, client: Client) -> Option<MedianAndRange> {
        self.of(client, |turn| Some(turn.said.kernel_s / turn.said.cpu_s))
    }

    /// Tokens for a CPU second.
    pub fn tokens_per_cpu_s(&self, client: Client) -> Option<MedianAndRange> {
        self.of(client, |turn| Some(turn.work.all_tokens() / turn.said.cpu_s))
    }

    /// What all clients did, as a table.
    pub fn text(&self) -> String {
        let mut header =
            vec!["client", "1000 tokens", "CPU s / 1 M tokens", "range", "kernel %", "1000 tokens / CPU s"];
        header.extend(["requests/s", "TTFT p50 ms", "truth", "p99 ms", "truth", "peak MB", "turns"]);
        let rows: Vec<Vec<String>> = Client::ALL.into_iter().filter_map(|client| self.row(client)).collect();
        let ideal = self.case.ideal.map(|rate| format!("; the schedule allows {} requests/s", number(rate)));
        let troubles: String = self.troubles.iter().map(|trouble| format!("missing: {trouble}\n")).collect();
        format!("{}{}\n{}{troubles}", self.case.title, ideal.unwrap_or_default(), table(&header, &rows))
    }

    fn row(&self, client: Client) -> Option<Vec<String>> {
        let cpu = self.cpu_per_million(client)?;
        let shown =
            |spread: Option<MedianAndRange>| spread.map_or("–".to_owned(), |spread| number(spread.median));
        Some(vec![
            client.name().to_owned(),
            shown(self.of(client, |turn| Some(turn.work.all_tokens() * 1e-3))),
            number(cpu.median),
            cpu.range(),
            shown(self.kernel_share(client).map(|spread| spread.scaled(100.0))),
            shown(self.tokens_per_cpu_s(client).map(|spread| spread.scaled(1e-3))),
            shown(self.of(client, |turn| Some(f64::from(turn.work.requests) / turn.said.wall_s))),
            shown(self.of(client, |turn| Some(turn.said.ttft_s?.0 * 1e3))),
            shown(self.of(client, |turn| Some(turn.truth?.0 * 1e3))),
            shown(self.of(client, |turn| Some(turn.said.ttft_s?.1 * 1e3))),
            shown(self.of(client, |turn| Some(turn.truth?.1 * 1e3))),
            shown(self.of(client, |turn| Some(turn.said.peak_bytes / 1e6))),
            self.turns.iter().filter(|turn| turn.client == client).count().to_string(),
        ])
    }
}
