//! Two endpoints compared by latency and tokens.

use super::Page;

struct Endpoint {
    mean: f64,
    median: f64,
    low: f64,
    high: f64,
    prompt: f64,
    output: f64,
}

impl Endpoint {
    fn new(page: &mut Page<'_, '_>, mean: f64, prompt: f64) -> Self {
        let mut latencies: Vec<f64> =
            (0..10).map(|_| mean * (1.0 + 0.12 * page.random.bounded_normal())).collect();
        latencies.sort_by(f64::total_cmp);
        let at = |index: usize| latencies.get(index).copied().unwrap_or_default();
        Self {
            mean: latencies.iter().sum::<f64>() / 10.0,
            median: (at(4) + at(5)) / 2.0,
            low: at(0),
            high: at(9),
            prompt,
            output: 80.0 + 2.0 * page.random.bounded_normal(),
        }
    }
}

pub(super) fn section(page: &mut Page<'_, '_>) {
    let slow = page.random.between(4.2, 5.6);
    let fast = slow / page.random.between(2.4, 3.6);
    let (first, second) = (Endpoint::new(page, slow, 246.0), Endpoint::new(page, fast, 250.0));
    page.heading(2, "Two endpoints");
    page.paragraph(
        "The same model was asked ten questions of a reading test on both endpoints. Metis calls it `gpt-oss-120b`, \
         Sophia `openai/gpt-oss-120b`.",
    );
    let mut rows = Vec::new();
    for (name, of) in [
        ("Mean latency", Endpoint::mean as fn(&Endpoint) -> f64),
        ("Median latency", Endpoint::median),
        ("Min latency", Endpoint::low),
        ("Max latency", Endpoint::high),
    ] {
        // Ratios are those of the numbers as they are printed.
        let (one, two) = (printed(of(&first)), printed(of(&second)));
        let shown = if page.honest || rows.len() != 1 { one / two } else { one / two * 1.09 };
        rows.push(vec![name.to_owned(), format!("{one:.3}s"), format!("{two:.3}s"), format!("{shown:.2}")]);
    }
    if page.honest {
        let (one, two) = (first.output.round(), second.output.round());
        rows.push(vec![
            "Mean prompt tokens".to_owned(),
            "246".to_owned(),
            "250".to_owned(),
            ratio(246.0, 250.0),
        ]);
        rows.push(vec!["Mean output tokens".to_owned(), format!("{one}"), format!("{two}"), ratio(one, two)]);
        page.table(&["Metric", "Metis", "Sophia", "Ratio"], &rows);
        page.paragraph(
            "One request was sent before the first that counts. Output tokens hold the reasoning but not the prompt. \
             Quality was not measured.",
        );
        return;
    }
    wrong(page, rows, &first, &second);
}

/// Tokens that hold the prompt called the response, and a quality that nobody measured.
fn wrong(page: &mut Page<'_, '_>, mut rows: Vec<Vec<String>>, first: &Endpoint, second: &Endpoint) {
    let tokens = |endpoint: &Endpoint| ((endpoint.prompt + endpoint.output) * 10.0).round() / 10.0;
    let rate = |endpoint: &Endpoint| (tokens(endpoint) / endpoint.mean * 100.0).round() / 100.0;
    rows.push(vec![
        "Throughput".to_owned(),
        format!("{:.2} tokens/sec", rate(first)),
        format!("{:.2} tokens/sec", rate(second)),
        ratio(rate(second), rate(first)),
    ]);
    rows.push(vec![
        "Avg response length".to_owned(),
        format!("{:.1} tokens", tokens(first)),
        format!("{:.1} tokens", tokens(second)),
        "Similar".to_owned(),
    ]);
    rows.push(vec![
        "Success rate".to_owned(),
        "10/10 (100%)".to_owned(),
        "10/10 (100%)".to_owned(),
        "Equal".to_owned(),
    ]);
    page.table(&["Metric", "Metis", "Sophia", "Ratio"], &rows);
    page.paragraph(
        "The answers are short, between 35 and 180 characters. Sophia is much faster at the same quality of the answers.",
    );
}

fn ratio(above: f64, below: f64) -> String {
    format!("{:.2}", above / below)
}

fn printed(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl Endpoint {
    fn mean(&self) -> f64 {
        self.mean
    }

    fn median(&self) -> f64 {
        self.median
    }

    fn low(&self) -> f64 {
        self.low
    }

    fn high(&self) -> f64 {
        self.high
    }
}
