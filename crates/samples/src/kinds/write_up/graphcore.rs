//! An image classifier with several numbers of epochs.

use crate::kind::Settings;
use crate::kinds::poptorch;

use super::{Page, mean_and_deviation};

pub(super) fn section(page: &mut Page<'_, '_>) {
    page.heading(2, "Graphcore");
    if page.honest { honest(page) } else { wrong(page) }
}

/// Repeats of one setting that really ran, and no winner.
fn honest(page: &mut Page<'_, '_>) {
    let epochs = page.random.pick(&[10_u64, 12, 20]);
    let batch = page.random.pick(&[8_u64, 16]);
    page.paragraph("The same script was run six times with nothing changed:");
    for line in [format!("epochs = {epochs}"), format!("batch_size = {batch}")] {
        page.paragraph(&line);
    }
    let mut accuracies = Vec::new();
    for run in 0..6 {
        let seed = page.random.next_u64();
        let cached = if run == 0 { "false" } else { "true" };
        let settings = Settings::trusted(
            &poptorch::KIND,
            &[
                ("epochs", epochs.to_string()),
                ("batch-size", batch.to_string()),
                ("cached", cached.to_owned()),
            ],
        );
        // The log prints two decimals, so the text goes by what is printed.
        accuracies.push((poptorch::first(&settings, seed).accuracy * 100.0).round() / 100.0);
        page.fence(&poptorch::KIND, &settings, seed);
    }
    let (mean, deviation) = mean_and_deviation(&accuracies);
    page.paragraph(&format!(
        "Over these six runs the accuracy on the test set is {mean:.2} % with a standard deviation of {deviation:.2} %. \
         The first run compiled the graph, the others found it in the cache, so their times are not compared."
    ));
}

/// Epochs edited where they have no effect, and a winner drawn from noise.
fn wrong(page: &mut Page<'_, '_>) {
    let declared = [page.random.whole(3, 6), 10, page.random.whole(14, 50)];
    page.paragraph("The number of epochs was varied by editing the script.");
    let mut rows = Vec::new();
    let mut best = (0.0, 0);
    for (index, epochs) in declared.into_iter().enumerate() {
        let seed = page.random.next_u64();
        page.heading(3, &format!("Run with {epochs} epochs"));
        let settings = Settings::trusted(
            &poptorch::KIND,
            &[
                ("declared-epochs", epochs.to_string()),
                ("cached", if index == 0 { "false" } else { "true" }.to_owned()),
                ("learning-rate", "0.03".to_owned()),
            ],
        );
        let accuracy = poptorch::first(&settings, seed).accuracy;
        page.embed(&poptorch::KIND, &settings, seed);
        rows.push(vec![epochs.to_string(), format!("{accuracy:.2}%")]);
        if accuracy > best.0 {
            best = (accuracy, epochs);
        }
    }
    page.table(&["Epochs", "Test accuracy"], &rows);
    page.paragraph(&format!("So {} epochs give the best model, and that many should be used.", best.1));
}
