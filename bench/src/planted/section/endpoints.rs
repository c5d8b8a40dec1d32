//! Two endpoints that serve the same model, side by side: a metric in every row, a system in every column.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, corrupted, fixed, heading, rounded};

pub(super) const FAULTS: &[Fault] = &[
    Fault::TokenCount,
    Fault::DerivedColumn,
    Fault::SummaryOutside,
    Fault::RateScope,
    Fault::Identity,
    Fault::BadCell,
];

/// What one endpoint showed.
struct Endpoint {
    mean_s: f64,
    median_s: f64,
    least_s: f64,
    most_s: f64,
    prompt: f64,
    tokens: f64,
    rate: f64,
}

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let title =
        scene.random.pick(["Two endpoints", "Endpoint comparison", "Serving the same model in two places"]);
    let requests = scene.random.pick([100, 200, 500]);
    let passes = scene.random.pick([3, 5]);
    let prompt = scene.random.between(180.0, 420.0).round();
    let tokens = scene.random.between(200.0, 420.0);
    let slow = endpoint(scene, prompt, tokens, 3.0, 6.0);
    let fast = endpoint(scene, prompt, tokens, 1.0, 2.2);
    let systems = scene.random.pick([["Metis", "Sophia"], ["Endpoint A", "Endpoint B"], ["North", "South"]]);
    let mut pair = [slow, fast];
    corrupt(scene, &mut pair);
    let table = table(scene, &pair, systems);
    // A token of English is about four characters, so an answer has about four times as many characters as tokens.
    let characters = if scene.plants(Fault::TokenCount) {
        let most = tokens * scene.random.between(0.25, 0.6);
        (most * 0.25, most)
    } else {
        (tokens * 3.0, tokens * 5.5)
    };
    let words = scene.random.pick(["The answers have", "Answers are between", "Each answer has"]);
    let introduction = format!(
        "{requests} prompts in each of {passes} passes after a warm-up pass, one request at a time, passes in turn. \
         {words} {:.0}-{:.0} characters.",
        characters.0, characters.1
    );
    let ratio = rounded(pair[0].mean_s, 3) / rounded(pair[1].mean_s, 3);
    let verdict =
        format!("By the mean latency, {} answers {ratio:.2} times as fast as {}.", systems[1], systems[0]);
    vec![heading(title), Block::Text(introduction), Block::WriteUpTable(table), Block::Text(verdict)]
}

fn endpoint(scene: &mut SectionData<'_>, prompt: f64, tokens: f64, low: f64, high: f64) -> Endpoint {
    let mean_s = rounded(scene.random.between(low, high), 3);
    let tokens = rounded(tokens * scene.random.between(0.98, 1.02), 1);
    Endpoint {
        mean_s,
        median_s: mean_s * scene.random.between(0.96, 0.99),
        least_s: mean_s * scene.random.between(0.6, 0.8),
        most_s: mean_s * scene.random.between(1.4, 2.2),
        prompt,
        tokens,
        rate: tokens / mean_s,
    }
}

/// Plants what concerns one endpoint alone.
fn corrupt(scene: &mut SectionData<'_>, pair: &mut [Endpoint; 2]) {
    let chosen = scene.random.below(2);
    let upward = scene.random.below(2) == 0;
    let beyond = scene.random.between(1.05, 1.3);
    let factor = scene.random.pick([0.5, 0.8, 1.25, 2.0, 3.0]);
    if scene.plants(Fault::RateScope) {
        for endpoint in pair.iter_mut() {
            endpoint.rate = (endpoint.prompt + endpoint.tokens) / endpoint.mean_s;
        }
    }
    let Some(endpoint) = pair.get_mut(chosen) else { return };
    if scene.plants(Fault::SummaryOutside) {
        endpoint.median_s = if upward { endpoint.most_s * beyond } else { endpoint.least_s / beyond };
    }
    if scene.plants(Fault::Identity) {
        endpoint.rate *= factor;
    }
}

fn table(scene: &mut SectionData<'_>, pair: &[Endpoint; 2], systems: [&str; 2]) -> WriteUpTable {
    let mut table = WriteUpTable::new(&["Metric", systems[0], systems[1], "Ratio"]);
    let seconds = |value: f64| format!("{value:.3}s");
    let times = |one: f64, other: f64| format!("{:.2}×", one / other);
    let mut latency = |name: &str, of: fn(&Endpoint) -> f64| {
        let (one, other) = (rounded(of(&pair[0]), 3), rounded(of(&pair[1]), 3));
        table.row(vec![name.to_owned(), seconds(one), seconds(other), times(one, other)]);
    };
    latency("Mean latency", |endpoint| endpoint.mean_s);
    latency("Median latency", |endpoint| endpoint.median_s);
    latency("Min latency", |endpoint| endpoint.least_s);
    latency("Max latency", |endpoint| endpoint.most_s);
    let (one, other) = (rounded(pair[0].rate, 2), rounded(pair[1].rate, 2));
    let rate = |value: f64| format!("{} tokens/sec", fixed(value, 2));
    table.row(vec!["Output throughput".to_owned(), rate(one), rate(other), times(other, one)]);
    let tokens = |value: f64| format!("{} tokens", fixed(value, 1));
    if scene.focus == Fault::RateScope {
        table.row(vec![
            "Avg prompt length".to_owned(),
            tokens(pair[0].prompt),
            tokens(pair[1].prompt),
            "1.00×".to_owned(),
        ]);
    }
    let (one, other) = (pair[0].tokens, pair[1].tokens);
    table.row(vec!["Avg response length".to_owned(), tokens(one), tokens(other), times(one, other)]);
    table.row(vec!["Success rate".to_owned(), "100%".to_owned(), "100%".to_owned(), "equal".to_owned()]);
    let row = scene.random.below(5);
    let factor = scene.random.pick([0.8, 0.9, 1.15, 1.3, 2.0]);
    let column = 1 + scene.random.below(2);
    let mut fork = scene.random.clone();
    if scene.plants(Fault::DerivedColumn)
        && let Some(cell) = table.cell(row, 3)
    {
        *cell = format!("{:.2}×", cell.trim_end_matches('×').parse::<f64>().unwrap_or_default() * factor);
    }
    if scene.plants(Fault::BadCell)
        && let Some(cell) = table.cell(row, column)
    {
        *cell = corrupted(&mut fork, cell);
    }
    table
}
