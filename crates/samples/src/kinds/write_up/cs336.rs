//! Times of forward and backward passes of several model sizes, in an HTML table, with the arrays of one of them.

use crate::kinds::timing_arrays;
use crate::log::say;

use super::Page;

/// Name, width, width of the feed-forward layer, layers, heads.
const SIZES: [(&str, u64, u64, u64, u64); 5] = [
    ("small", 768, 3072, 12, 12),
    ("medium", 1024, 4096, 24, 16),
    ("large", 1280, 5120, 36, 20),
    ("xl", 1600, 6400, 48, 25),
    ("2.7B", 2560, 10_240, 32, 32),
];
const VOCABULARY: u64 = 10_000;
const DEVICES: [&str; 3] = ["CPU", "MPS", "CUDA"];

pub(super) fn section(page: &mut Page<'_, '_>) {
    page.heading(2, "Benchmarking the model sizes");
    // One speed for each device, in parameters a millisecond.
    let speeds = [480_000.0, 3_300_000.0, 6_500_000.0]
        .map(|speed: f64| speed * (1.0 + 0.1 * page.random.bounded_normal()));
    let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    table_head(page);
    let mut warm = (Vec::new(), Vec::new());
    for (index, size) in SIZES.into_iter().enumerate() {
        let parameters = parameters(size);
        let mut cells = Vec::new();
        for (device, speed) in speeds.into_iter().enumerate() {
            let forward = parameters as f64 / speed;
            let backward = forward * (3.7 + 0.1 * page.random.bounded_normal());
            if (index, device) == (2, 2) {
                warm = (
                    timing_arrays::times(10, forward, &mut page.random),
                    timing_arrays::times(10, backward, &mut page.random),
                );
                cells.extend([median(&warm.0), median(&warm.1)].map(|time| format!("{time:.1}ms")));
            } else {
                cells.extend([forward, backward].map(|time| format!("{time:.1}ms")));
            }
        }
        if !page.honest {
            damage(index, &mut cells, parameters as f64 / slowest, &warm.0);
        }
        row(page, size, parameters, &cells);
    }
    page.log.lines("  </tbody>\n</table>");
    page.log.line("");
    arrays(page, &warm);
}

/// Parameters of a transformer with these sizes: attention, gated feed-forward layer, norms, embedding.
fn parameters((_, width, inner, layers, _): (&str, u64, u64, u64, u64)) -> u64 {
    layers * (4 * width * width + 3 * width * inner + 2 * width) + width + VOCABULARY * width
}

/// The median. Written here because samples depend on no room but `random`: what they hold must not change with the
/// statistics that are tested on it.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    (at(sorted.len().saturating_sub(1) / 2) + at(sorted.len() / 2)) / 2.0
}

/// The usual slips: a summary above every sample, a letter too many, cells left open, a machine that swaps.
fn damage(index: usize, cells: &mut [String], forward: f64, warm: &[f64]) {
    let mut set = |cell: usize, change: &dyn Fn(&str) -> String| {
        if let Some(place) = cells.get_mut(cell) {
            *place = change(place);
        }
    };
    match index {
        2 => set(4, &|_| format!("{:.1}ms", warm.iter().copied().fold(0.0, f64::max) + 0.3)),
        3 => {
            set(3, &|_| String::new());
            set(5, &|cell| format!("{cell}a"));
        }
        4 => {
            set(1, &|_| format!("{:.1}ms", forward * 17.4));
            set(2, &|_| "TBD".to_owned());
            set(3, &|_| "TBD".to_owned());
        }
        _ => {}
    }
}

fn table_head(page: &mut Page<'_, '_>) {
    page.log.lines("<table>\n  <thead>\n    <tr>");
    for name in ["Size", "d_model", "d_ff", "num_layers", "num_heads", "num_params"] {
        say!(page.log, "      <th rowspan=\"2\">{name}</th>");
    }
    for device in DEVICES {
        say!(page.log, "      <th colspan=\"2\">{device}</th>");
    }
    page.log.lines("    </tr>\n    <tr>");
    for _ in DEVICES {
        page.log.lines("      <th>forward_time</th>\n      <th>forward+backward</th>");
    }
    page.log.lines("    </tr>\n  </thead>\n  <tbody>");
}

fn row(page: &mut Page<'_, '_>, size: (&str, u64, u64, u64, u64), parameters: u64, cells: &[String]) {
    let (name, width, inner, layers, heads) = size;
    let count = match parameters {
        count if count >= 1_000_000_000 => format!("{:.2}B", count as f64 / 1e9),
        count => format!("{:.1}M", count as f64 / 1e6),
    };
    let shape =
        [name.to_owned(), width.to_string(), inner.to_string(), layers.to_string(), heads.to_string(), count];
    page.log.line("    <tr>");
    for cell in shape.iter().chain(cells) {
        say!(page.log, "      <td>{cell}</td>");
    }
    page.log.line("    </tr>");
}

fn arrays(page: &mut Page<'_, '_>, warm: &(Vec<f64>, Vec<f64>)) {
    page.heading(3, "Warm-up");
    page.paragraph("For the `large` model with CUDA, with warm-up:");
    let mut after = warm.clone();
    if !page.honest {
        after.1.last_mut().into_iter().for_each(|last| *last *= 1.137);
    }
    fenced(page, &after);
    if page.honest {
        page.paragraph(
            "Five iterations came before these. The table holds the median of the ten that follow.",
        );
        return;
    }
    page.paragraph("And without warm-up:");
    let mut cold = after;
    cold.0.first_mut().into_iter().for_each(|first| *first *= 12.6);
    cold.1.first_mut().into_iter().for_each(|first| *first *= 1.77);
    let mean = cold.0.iter().sum::<f64>() / cold.0.len().max(1) as f64;
    fenced(page, &cold);
    page.paragraph(&format!(
        "Without warm-up a forward pass takes {mean:.1} ms, so warm-up doubles the speed."
    ));
}

fn fenced(page: &mut Page<'_, '_>, (forward, backward): &(Vec<f64>, Vec<f64>)) {
    page.log.line("```");
    timing_arrays::array(page.log, "forward", forward);
    timing_arrays::array(page.log, "forward-backward", backward);
    page.log.line("```");
    page.log.line("");
}
