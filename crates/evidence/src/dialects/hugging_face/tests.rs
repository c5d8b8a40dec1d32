//! What the shapes of the Trainer do not show.

use crate::{DocumentReader, Readers};
use assay_model::ReadRun;

fn runs(text: &str) -> Vec<ReadRun> {
    let mut reader = DocumentReader::new(&Readers::new("hugging_face", &[], &[]).unwrap(), "a.log");
    reader.feed(text.as_bytes());
    reader.finish().runs
}

fn value(run: &ReadRun, metric: &str) -> Option<f64> {
    run.observations.iter().find(|o| o.metric == metric).map(|o| o.value)
}

fn losses(run: &ReadRun) -> Vec<f64> {
    run.series
        .iter()
        .find(|series| series.metric == "loss.train")
        .map(|series| series.values.clone())
        .unwrap_or_default()
}

const STEPS: &str = "{'loss': 2.5, 'learning_rate': 4e-05, 'epoch': 0.5}\n{'loss': 2.1, 'learning_rate': 2e-05, 'epoch': 1.0}\n";
const END: &str = "{'train_runtime': 100.0, 'train_samples_per_second': 20.0, 'train_steps_per_second': 2.5, \
    'train_loss': 2.3, 'epoch': 1.0}\n";

#[test]
fn ranks_that_repeat_a_line_count_once() {
    let first = STEPS.lines().next().unwrap();
    let later = END.replace("100.0", "100.1");
    let found = runs(&format!("{first}\n{STEPS}{END}{END}{later}"));
    assert_eq!(found.len(), 1);
    assert_eq!(losses(&found[0]), [2.5, 2.1]);
    assert_eq!(value(&found[0], "duration.loop"), Some(100.0));
    assert!(found[0].series.iter().all(|series| series.metric != "duration.loop"));
}

#[test]
fn losses_after_a_final_dictionary_are_another_run() {
    let found = runs(&format!("{STEPS}{END}{STEPS}{END}"));
    assert_eq!(found.len(), 2);
    assert_eq!(losses(&found[0]), losses(&found[1]));
}

#[test]
fn older_samples_per_second_are_steps_unless_the_counts_say_otherwise() {
    let end = "{'train_runtime': 100.0, 'train_samples_per_second': 2.5, 'epoch': 1.0}\n";
    let found = runs(end);
    assert_eq!((value(&found[0], "steps_per_s"), value(&found[0], "samples_per_s.loop")), (Some(2.5), None));
    let header = "***** Running training *****\n  Num examples = 250\n  Num Epochs = 1\n";
    let found = runs(&format!("{header}{end}"));
    let rate = found[0].observations.iter().find(|o| o.metric == "samples_per_s.loop").unwrap();
    assert_eq!((rate.value, rate.count, rate.seconds), (2.5, Some(250.0), Some(100.0)));
    assert_eq!(value(&found[0], "steps_per_s"), None);
}

#[test]
fn a_block_of_an_older_release_ends_without_steps() {
    let found = runs(
        "***** train metrics *****\n  train_runtime            = 0:01:40.00\n  train_samples_per_second =      2.5\n",
    );
    assert_eq!(
        (value(&found[0], "steps_per_s"), value(&found[0], "duration.loop")),
        (Some(2.5), Some(100.0))
    );
}

#[test]
fn the_block_does_not_repeat_the_dictionary() {
    let block = "***** train metrics *****\n  train_loss               =        2.3\n  train_runtime            = 0:01:40.00\n  \
        train_samples_per_second =       20.0\n  train_steps_per_second   =        2.5\n";
    let found = runs(&format!("{STEPS}{END}{block}"));
    assert_eq!(found.len(), 1);
    let repeated = ["loss.mean", "duration.loop", "samples_per_s.loop", "steps_per_s"];
    assert!(found[0].series.iter().all(|series| !repeated.contains(&series.metric.as_str())));
}

#[test]
fn a_dictionary_glued_to_a_bar_and_one_that_was_cut() {
    let found = runs(
        " 50%|█████     | 5/10 [00:05<00:05, 1.0s/it]{'loss': 2.5, 'learning_rate': 4e-05, 'epoch': 0.5}\n",
    );
    assert_eq!(value(&found[0], "loss.train"), Some(2.5));
    let found = runs("{'train_runtime': 100.0, 'train_samples_per_second': 20.0, 'train_st");
    assert_eq!(value(&found[0], "samples_per_s.loop"), Some(20.0));
}

#[test]
fn a_loss_that_is_no_number_is_a_hint() {
    let found = runs("{'loss': nan, 'learning_rate': 4e-05, 'epoch': 0.5}\n");
    assert_eq!((value(&found[0], "loss.train"), found[0].hints.len()), (None, 1));
}

#[test]
fn dictionaries_of_other_programs_are_left_alone() {
    assert_eq!(runs("{'loss': 2.5, 'accuracy': 0.5}\n{'a': 1}\n").len(), 0);
}

#[test]
fn settings_of_a_configuration_are_not_results() {
    assert_eq!(
        runs("  eval_iters = 200\n  eval_accuracy = 0.5\n{'eval_batch_size': 8, 'eval_steps': 500}\n").len(),
        0
    );
}

#[test]
fn a_final_dictionary_over_several_lines() {
    let found = runs(
        "{'train_runtime': 100.0,\n 'train_samples_per_second': 20.0,\n 'train_steps_per_second': 2.5,\n 'train_loss': 2.3}\n",
    );
    let values = ["duration.loop", "samples_per_s.loop", "steps_per_s", "loss.mean"]
        .map(|metric| value(&found[0], metric));
    assert_eq!(values, [Some(100.0), Some(20.0), Some(2.5), Some(2.3)]);
}

#[test]
fn a_script_with_a_loop_of_its_own_is_not_taken_for_one_that_broke_off() {
    let header = "***** Running training *****\n  Num examples = 250\n  Num Epochs = 1\n";
    assert_eq!(runs(header)[0].status.word(), "unknown");
    let trainer = format!("{header}  Number of trainable parameters = 124,439,808\n");
    assert_eq!(runs(&trainer)[0].status.word(), "truncated");
}

#[test]
fn summaries_with_other_losses_are_other_runs() {
    let line = |seconds: f64, loss: f64| {
        format!(
            "{{'train_runtime': {seconds}, 'train_samples_per_second': 0.7, 'train_steps_per_second': 0.7, 'train_loss': {loss}, 'epoch': 1.0}}\n"
        )
    };
    let runs = |text: String| crate::read_document("a.log", text.as_bytes()).runs.len();
    assert_eq!(runs(line(11.2, 1.527) + &line(9.3, 1.505)), 2);
    // Two ranks of one run.
    assert_eq!(runs(line(11.2, 1.527) + &line(11.3, 1.527)), 1);
}
