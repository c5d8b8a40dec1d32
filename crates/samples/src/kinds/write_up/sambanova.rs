//! Data-parallel training with several numbers of tasks.

use crate::kind::Settings;
use crate::kinds::sambanova;

use super::Page;

pub(super) fn section(page: &mut Page<'_, '_>) {
    page.heading(2, "SambaNova");
    // The log of the wrong one is shown, and people show only a part of such a log.
    let (gate, steps) = if page.honest { ("none", 505_u64) } else { ("min", 55) };
    let mut runs = Vec::new();
    for tasks in [4_u64, 8, 16] {
        let chosen = [("tasks", tasks.to_string()), ("gate", gate.to_owned()), ("steps", steps.to_string())];
        let settings = Settings::trusted(&sambanova::KIND, &chosen);
        let seed = page.random.next_u64();
        runs.push((sambanova::run(&settings, seed), settings, seed));
    }
    let base = runs.first().map_or(1.0, |(run, ..)| run.rate / run.tasks as f64);
    if page.honest {
        let rows: Vec<Vec<String>> = runs
            .iter()
            .map(|(run, ..)| {
                vec![
                    run.tasks.to_string(),
                    run.samples.to_string(),
                    format!("{:.2}", run.seconds),
                    format!("{:.1}", run.rate),
                    format!("{:.1} %", 100.0 * run.rate / run.tasks as f64 / base),
                ]
            })
            .collect();
        page.table(&["Tasks", "Samples", "Training time (s)", "Samples per second", "Efficiency"], &rows);
        page.paragraph(
            "Each task has its own batch, so more tasks process more samples in the same number of steps. For that \
             reason neither the losses nor the times of these runs are compared, only the rates. There is one run \
             of each, so the spread is not known.",
        );
        return;
    }
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|(run, ..)| vec![run.tasks.to_string(), format!("{:.3}", run.loss), format!("{:.1}", run.rate)])
        .collect();
    page.table(&["ntasks", "Final loss", "Training samples per second"], &rows);
    page.paragraph(
        "More tasks make the training more efficient, which shows in the smaller final loss. The run with 4 tasks \
         failed, as its log shows, so its result does not count:",
    );
    if let Some((_, settings, seed)) = runs.first() {
        page.fence(&sambanova::KIND, settings, *seed);
    }
}
