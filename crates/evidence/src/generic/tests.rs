use assay_model::{Document, ReadRun};
use proptest::prelude::*;

mod printouts;

use super::DIALECT;
use crate::{DocumentReader, Readers};

fn read(text: &str) -> Document {
    let mut reader = DocumentReader::new(&Readers::all(&[]), "a.log");
    reader.feed(text.as_bytes());
    reader.finish()
}

fn run(text: &str) -> ReadRun {
    read(text).runs.into_iter().next().unwrap_or_default()
}

fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = run(text).observations.into_iter().map(|found| found.metric).collect();
    names.retain(|name| !["loss.final", "duration.job"].contains(&name.as_str()));
    names.sort();
    names
}

fn value(text: &str, metric: &str) -> Option<f64> {
    run(text).observations.into_iter().find(|found| found.metric == metric).map(|found| found.value)
}

#[test]
fn metrics_beyond_the_limit_are_left_out_with_a_word() {
    let many: String = (0..1_200).map(|number| format!("m{number}=1.5\n")).collect();
    let found = run(&format!("{many}throughput: 99 samples/s\n"));
    assert!(found.hints.iter().any(|hint| hint.seen.contains("left out")), "{:?}", found.hints);
    assert!(run("throughput: 99 samples/s\n").hints.is_empty());
}

#[test]
fn every_shape_gives_what_it_promises() {
    for shape in DIALECT.shapes {
        let mut promised: Vec<String> =
            shape.reads.split(", ").filter(|word| !word.starts_with("setting ")).map(str::to_owned).collect();
        promised.sort();
        assert_eq!(names(shape.text), promised, "{}", shape.text);
    }
}

#[test]
fn units_lead_to_base_units() {
    assert_eq!(value("Epoch 5/5 | val acc 73.28% | 22.95s", "accuracy.eval"), Some(0.7328));
    assert_eq!(value("step 10 | loss 1.5 | 37.2k tok/s", "tokens_per_s"), Some(37_200.0));
    assert_eq!(value("Prefill Latency:     750ms", "latency.prefill"), Some(0.75));
    assert_eq!(value("Test set: loss: 0.03, Accuracy: 9898/10000 (99%)", "accuracy.test"), Some(0.9898));
}

#[test]
fn what_is_no_measurement_is_not_read() {
    for text in [
        "--model 104m --vocab-size 32000 --batch-size 32",
        "12:30:05 starting on node 14",
        "conv2d (Conv2D)              (None, 200, 200, 32)      896",
        "torch 2.9.0+cu126, driver 550.54",
        "max_iter: 5000",
        "training for 100 epochs",
        "loaded shape=(2048, 384)",
        "The accuracy of the model that we trained has improved over these 3 days, which is good.",
        "2024-03-09 00:23:47.07 device 0 found",
        "precision: 16",
    ] {
        assert_eq!(names(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn repeated_lines_are_a_series_over_their_own_step() {
    let text: String = (1..=5).map(|epoch| format!("epoch: {epoch}, loss is: {}.5\n", 9 - epoch)).collect();
    let run = run(&text);
    assert_eq!(run.series[0].metric, "loss");
    assert_eq!(run.series[0].values, [8.5, 7.5, 6.5, 5.5, 4.5]);
    assert_eq!(run.series[0].steps, [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn steps_that_start_again_are_another_run() {
    let one: String = (1..=4).map(|step| format!("[{step}]\ttrain-rmse:{step}.25\n")).collect();
    assert_eq!(read(&(one.clone() + &one)).runs.len(), 2);
}

#[test]
fn other_ranks_do_not_add_values() {
    let text: String = (1..=3)
        .flat_map(|step| (0..2).map(move |rank| format!("[rank{rank}]: step {step} loss 0.{step}5\n")))
        .collect();
    assert_eq!(run(&text).series[0].seen, 3);
}

#[test]
fn keras_bars_that_go_back_over_themselves() {
    let back = "\u{8}".repeat(40);
    let text = format!(
        "Epoch 1/2\n 1/10 [==>......] - ETA: 2s - loss: 1.08 - accuracy: 0.50{back} 10/10 [=========] - 4s 395ms/step - loss: 0.93 - accuracy: 0.57 - val_loss: 0.61 - val_accuracy: 0.80\n"
    );
    assert_eq!(value(&text, "loss.eval"), Some(0.61));
    assert_eq!(value(&text, "epoch_s"), Some(4.0));
    assert_eq!(value(&text, "remaining"), None);
}

#[test]
fn unknown_keys_are_kept_where_they_vary_or_beside_known_ones() {
    assert_eq!(names("foo: 1.5"), Vec::<String>::new());
    assert_eq!(names("foo: 1.5\nfoo: 2.5\n"), ["foo"]);
    assert_eq!(names("loss: 0.5, foo: 1.5"), ["foo", "loss"]);
}

#[test]
fn numbers_of_several_splits_keep_the_names_of_the_splits() {
    let text = "epoch 1 train 0.42 test 0.21 acc 91.5\nepoch 2 train 0.32 test 0.19 acc 92.5\n";
    assert_eq!(names(text), ["accuracy", "test", "train"]);
    // A split that numbers something, or stands alone, is no metric.
    assert_eq!(names("epoch 1 train 12 test 14 acc 91.5"), ["accuracy"]);
}

#[test]
fn moments_are_no_measurements() {
    let lines = |key: &str, first: &str, second: &str| {
        format!("{key}: {first} | loss: 0.5\n{key}: {second} | loss: 0.4\n")
    };
    for key in ["ts", "time", "timestamp", "wall_time"] {
        assert_eq!(names(&lines(key, "1700000000.25", "1700000010.5")), ["loss"], "{key}");
        let json = format!(
            "{{\"{key}\": 1700000000.25, \"loss\": 0.5}}\n{{\"{key}\": 1700000010.5, \"loss\": 0.4}}\n"
        );
        assert_eq!(names(&json), ["loss"], "{key}");
        let table = format!("{key}  loss  acc\n1700000000.25  0.5  0.7\n1700000010.5  0.4  0.8\n");
        assert!(!names(&table).iter().any(|name| name.contains("time") || name.contains("ts")), "{key}");
    }
    // A time of the usual size stays one.
    assert!(names(&lines("time", "12.25", "12.5")).len() == 2);
}

#[test]
fn a_split_at_the_start_of_a_line_holds_for_all_of_it() {
    assert_eq!(names("Val - Loss: 0.20 | Acc: 0.91 | AUC: 0.92"), ["accuracy.eval", "auc.eval", "loss.eval"]);
    assert_eq!(
        names("Train Loss: 0.5 Acc: 0.7 | Val Loss: 0.6 Acc: 0.8"),
        ["accuracy.eval", "accuracy.train", "loss.eval", "loss.train"]
    );
}

#[test]
fn a_share_without_percent_sign_beyond_one_has_no_unit() {
    let run = run("epoch 1 f1: 0.01\nepoch 2 f1: 99.7\n");
    assert_eq!(
        run.observations.iter().find(|found| found.metric == "f1").map(|found| found.unit.to_string()),
        Some(String::new())
    );
}

#[test]
fn many_carriage_returns_take_linear_time() {
    let began = std::time::Instant::now();
    read(&"x\r".repeat(100_000));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn a_loss_that_is_not_a_number_is_noticed() {
    assert_eq!(run("epoch 1 loss: 0.5\nepoch 2 loss: nan\n").hints.len(), 1);
}

/// A log of steps in one of several styles.
fn styled(prefix: &str, joint: &str, separator: &str) -> String {
    (1..=6)
        .map(|step| format!("{prefix}step{joint}{step}{separator}train_loss{joint}{}.25{separator}val_acc{joint}0.{step}1\n", 9 - step))
        .collect()
}

#[test]
fn one_log_in_many_styles_gives_one_result() {
    let plain = run(&styled("", ": ", ", "));
    let values = |run: &ReadRun| -> Vec<(String, Vec<f64>, Vec<f64>)> {
        let mut found: Vec<_> = run
            .series
            .iter()
            .map(|series| (series.metric.clone(), series.values.clone(), series.steps.clone()))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    };
    assert_eq!(values(&plain).len(), 2);
    for (prefix, joint, separator) in [
        ("", ": ", " | "),
        ("2024-03-09 00:23:47,079 ", ": ", ", "),
        ("[12:30:05] ", ": ", " - "),
        ("INFO ", ": ", ", "),
        ("", " = ", "; "),
        ("", ":", "\t"),
        ("[rank0]: ", ": ", ", "),
    ] {
        let other = run(&styled(prefix, joint, separator));
        assert_eq!(values(&other), values(&plain), "{prefix:?} {joint:?} {separator:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut reader = DocumentReader::new(&Readers::new("generic", &[], &[]).unwrap(), "a.log");
        reader.feed(&bytes);
        let _ = reader.finish();
    }

    #[test]
    fn any_words_and_numbers_give_finite_values(text in "([a-z_]{1,6}[ :=|,()\\[\\]/%]{0,3}[0-9.e:/-]{0,8}[ a-z]{0,4}\n?){0,12}") {
        for run in read(&text).runs {
            prop_assert!(run.observations.iter().all(|found| found.value.is_finite()));
        }
    }
}

fn series(text: &str, metric: &str) -> Vec<f64> {
    let found = run(text).series.into_iter().find(|series| series.metric == metric);
    found.map(|series| series.values).unwrap_or_default()
}

#[test]
fn nouns_stand_before_counters_and_prepositions() {
    assert_eq!(value("Score at iteration 100 is 1.39", "score"), Some(1.39));
    assert_eq!(value("average reward over 100 runs is 403.4", "reward"), Some(403.4));
    let text = "Accuracy of the network on the 10000 test images: 53 %";
    assert_eq!(value(text, "accuracy.test.network"), Some(0.53));
    assert_eq!(names("=== Aggregate metrics over 47 queries ==="), Vec::<String>::new());
}

#[test]
fn arrows_lead_to_the_value_now() {
    assert_eq!(value("Validation loss decreased (0.42 --> 0.31). Saving model", "loss.eval"), Some(0.31));
    assert_eq!(value("val_loss improved from 0.310 to 0.290", "loss.eval.best"), Some(0.29));
    let first = run("Validation loss decreased (inf --> 0.42). Saving model");
    assert!(!format!("{:?}", first.status).contains("NaN"), "{:?}", first.status);
}

#[test]
fn headings_come_again_and_hold_for_their_lines() {
    let text = "testing\nepoch: 0, loss: 2.5\nnow training\nepoch: 1, loss: 1.5\ntesting\nepoch: 1, loss: 1.4\n\
                now training\nepoch: 2, loss: 1.2\n";
    assert_eq!(series(text, "loss.test"), [2.5, 1.4]);
    assert_eq!(series(text, "loss.train"), [1.5, 1.2]);
    // What opens a log of training says nothing of one line alone.
    assert_eq!(series("Start training\nepoch 0: loss 3.0\nepoch 1: loss 2.0\n", "loss"), [3.0, 2.0]);
}

#[test]
fn two_tables_take_turns() {
    let epoch = |n: u32, map: &str| {
        format!(
            "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size\n      {n}/3      2.13G      1.596      \
             2.455          1        640: 100% ━━━━ 409/409 1.5it/s 4:25\n                 Class     Images  Instances      \
             Box(P          R      mAP50  mAP50-95): 100% ━━━━ 58/58 1.5it/s 38.5s\n                   all        925       \
             1248      0.622      0.391      {map}      0.169\n"
        )
    };
    let text = epoch(1, "0.351") + &epoch(2, "0.402") + &epoch(3, "0.433");
    assert_eq!(series(&text, "map50"), [0.351, 0.402, 0.433]);
    assert_eq!(series(&text, "precision").len(), 3);
    assert_eq!(series(&text, "memory"), [2.13e9; 3]);
}

#[test]
fn printouts_of_benchmarks() {
    assert_eq!(
        value("sort/quick/1000         time:   [26.029 µs 26.251 µs 26.505 µs]", "duration.sort_quick_1000"),
        Some(26.251e-6)
    );
    let stream = "Function    Best Rate MB/s  Avg time     Min time     Max time\nCopy:           12345.6     0.013021     0.012965     0.013101\n";
    assert_eq!(value(stream, "bytes_per_s.copy.best"), Some(12345.6e6));
    let osu = "# Latency Test\n# Size          Latency (us)\n0                       0.91\n1024                    1.65\n";
    let sizes: Vec<String> =
        read(osu).runs.iter().map(|run| format!("{:?}", run.settings[0].value)).collect();
    assert!(sizes.len() == 2 && sizes[1].contains("1024"), "{sizes:?}");
    assert_eq!(value("time (ms) | forward: 250 | backward: 85.5", "duration.forward"), Some(0.25));
    assert_eq!(value("Epoch 3 took 12.5 seconds", "epoch_s"), Some(12.5));
    assert_eq!(value("done, time=3 minutes and 20.5 seconds", "duration"), Some(200.5));
    assert_eq!(value("INFO step=1 loss=0.5 lr=3e-4 tokens/sec=51234", "tokens_per_s"), Some(51234.0));
    assert_eq!(value("loss 0.5 steps_per_sec=3.5", "steps_per_s"), Some(3.5));
}

#[test]
fn what_stands_in_brackets_or_below_a_line_is_no_value() {
    assert_eq!(names("Step: 50 char-loss: tensor(1.69, device='cuda:0')"), ["loss.char"]);
    assert_eq!(names("(trainer:338) loss=0.5"), ["loss"]);
    assert_eq!(value("Latency / 1K tokens: 250 ms", "latency"), Some(0.25));
    assert_eq!(names("AP @[ IoU=0.50:0.95 | area=all ] = 0.374"), ["map50_95"]);
    assert_eq!(names(" * Acc@1 76.130 (23.870)"), ["accuracy"]);
    assert_eq!(names("Model params : 299,392,704  (0.299B)"), ["parameters"]);
}

#[test]
fn ranks_in_brackets_speak_with_one_voice() {
    let text = "[Rank 0] epoch 1 loss 2.5\n[Rank 1] epoch 1 loss 9.5\n[Rank 0] epoch 2 loss 2.0\n[Rank 1] epoch 2 loss 9.0\n";
    assert_eq!(series(text, "loss"), [2.5, 2.0]);
    let glog = "I0512 10:00:00.123456 140 train.py:120] [1000] loss=2.5\nI0512 10:00:01.123456 140 train.py:120] [2000] loss=2.0\n";
    assert_eq!(series(glog, "loss"), [2.5, 2.0]);
}

#[test]
fn classes_and_labels_part_numbers_of_one_name() {
    assert_eq!(names("LOC: precision: 99.6%; recall: 98.1%"), ["precision.loc", "recall.loc"]);
    assert_eq!(names("Warning: unable to complete 100 samples in 5.0s"), Vec::<String>::new());
    assert_eq!(names("[LINE:148] INFO Step 34: Loss = 0.5"), ["loss"]);
    assert_eq!(names("matmul/F32/128  time:   [2.1 ms 2.2 ms 2.3 ms]"), ["duration.matmul_f32_128"]);
    assert_eq!(
        names("processed 74542 tokens with 5600 phrases; found: 16018 phrases; correct: 0"),
        Vec::<String>::new()
    );
}

#[test]
fn digits_in_a_name_part_lines_of_one_shape() {
    let text =
        "Latency:\np50: 35ms\np99: 120ms\nacc@1: 0.71\nacc@5: 0.91\nTop 1 error: 0.06\nTop 5 error: 0.002\n";
    for (metric, expected) in [
        ("latency.p50", 0.035),
        ("latency.p99", 0.12),
        ("accuracy", 0.71),
        ("accuracy.top5", 0.91),
        ("error", 0.06),
        ("error.top5", 0.002),
    ] {
        assert_eq!(value(text, metric), Some(expected), "{metric}");
    }
    let boxes = "AP @[ IoU=0.50 | area=all ] = 0.72\nAP @[ IoU=0.75 | area=all ] = 0.59\nAP @[ IoU=0.50:0.95 | area=small ] = 0.2";
    assert_eq!(names(boxes), ["map50", "map50_95.small", "map75"]);
}

#[test]
fn rows_of_numbered_classes_keep_their_columns() {
    let report = "              precision    recall  f1-score   support\n\n           0       0.78      0.76      0.77       101\n           1       0.70      0.71      0.72        77\n\n    accuracy                           0.74       178\n   macro avg       0.73      0.75      0.79       178\n";
    for (metric, expected) in
        [("precision.class_0", 0.78), ("recall.class_1", 0.71), ("accuracy", 0.74), ("f1.macro", 0.79)]
    {
        assert_eq!(value(report, metric), Some(expected), "{metric}");
    }
}

#[test]
fn a_batch_counter_behind_an_epoch_counts_steps() {
    let text = "Epoch: [0][50/100]\tTime 0.5s (0.9s)\tData 0.25s (0.3s)\tLoss 0.7 (0.8)\nEpoch: [1][50/100]\tTime 0.4s (0.6s)\tData 0.25s (0.3s)\tLoss 0.5 (0.7)\n";
    assert_eq!(value(text, "duration.data"), Some(0.25));
    assert_eq!(value(text, "epoch_s"), None);
    assert_eq!(value("Total cost: $0.25 for 3 runs", "cost_usd.total"), Some(0.25));
    assert_eq!(
        value("1.5 ms ± 40 µs per loop (mean ± std. dev. of 7 runs, 10 loops each)", "latency.per_loop"),
        Some(0.0015)
    );
    assert_eq!(value("wandb:   val/dice_2 0.75", "dice.eval.2"), Some(0.75));
}

#[test]
fn what_is_no_text_has_no_metrics() {
    assert_eq!(value("loss\u{1}\u{fffd}: 0.25 acc 0.5\n", "loss"), None);
    assert_eq!(value("loss: 0.25\n", "loss"), Some(0.25));
}

#[test]
fn a_time_with_its_spread_is_measured_and_names_the_statistics_behind_it() {
    let text = "  Grid 64x64: 0.25 ± 0.05 ms (min=0.125, median=0.5)\n";
    for (metric, seconds) in [("duration", 0.25e-3), ("duration.min", 0.125e-3), ("duration.median", 0.5e-3)]
    {
        assert_eq!(value(text, metric), Some(seconds), "{metric}");
    }
}

#[test]
fn pairs_and_dictionaries_inside_dictionaries() {
    let text = "INFO  test result: OrderedDict([('recall@20', 0.2485), ('mrr@20', 0.0716)])";
    assert_eq!(names(text), ["mrr.test.20", "recall.test.20"]);
    let text = "{'cpu': {'time': 15.4, 'accuracy': 67.62}, 'gpu': {'time': 1.3, 'accuracy': 63.66}}";
    assert_eq!(value(text, "accuracy.gpu"), Some(63.66));
    assert_eq!(value(text, "duration.cpu"), Some(15.4));
}

#[test]
fn keys_of_words_and_sums() {
    let text = "type=lean layers=4 seqlen=1024 fwd_ms=3.858 bwd_ms=8.097 total_ms=11.956 total_mb=2824.406";
    assert_eq!(names(text), ["duration.bwd", "duration.fwd", "duration.total", "memory.total"]);
    assert_eq!(value("documents_per_second: 470.1", "documents_per_s"), Some(470.1));
    assert_eq!(value("Avg epoch time: 7.25 s", "epoch_s.mean"), Some(7.25));
}

#[test]
fn splits_of_numbered_parts_and_of_times() {
    let text = "    Test net output #0: loss = 2.654 (* 1 = 2.654 loss)\n    Train net output #0: loss = 2.64 (* 1 = 2.64 loss)";
    assert_eq!(names(text), ["loss.test", "loss.train"]);
    let text = "[Train] epoch=1 loss=0.51 time=12.3\n[Valid] epoch=1 loss=0.41 time=2.3";
    assert_eq!(value(text, "duration"), Some(12.3));
    assert_eq!(value(text, "duration.eval"), Some(2.3));
    assert_eq!(value("Best cross-validation score: 0.95", "score.eval.best"), Some(0.95));
}

#[test]
fn names_that_stand_above_or_in_words() {
    let text = "Loss:\n0.3456\nTraining time (min):\n2.5";
    assert_eq!(value(text, "loss"), Some(0.3456));
    assert_eq!(value(text, "duration.train"), Some(150.0));
    assert_eq!(value("95th percentile: 13.2 ms", "duration.p95"), Some(0.0132));
    assert_eq!(
        value("Episode 10\tAvg: 21.5\tBest: 45.5\nEpisode 20\tAvg: 22.5\tBest: 46.5", "reward.best"),
        Some(46.5)
    );
    assert_eq!(
        value(
            "Metric val_loss improved by 0.004 >= min_delta = 0.0. New best score: 0.028",
            "loss.eval.best"
        ),
        Some(0.028)
    );
    assert_eq!(value("19/19 - 12s - loss: 0.35 - accuracy: 0.45", "epoch_s"), Some(12.0));
}

#[test]
fn a_block_below_an_underlined_heading_is_of_its_split() {
    let text = "Results on test set\n-------------------\nAccuracy  : 0.92\nRecall    : 0.89\n";
    assert_eq!(names(text), ["accuracy.test", "recall.test"]);
}

#[test]
fn banners_part_runs_that_print_the_same_lines() {
    let text = "*** <class 'tuner.Tree'> ***\nTest RMSE: 0.36\nTest MAE: 0.17\n*** <class 'tuner.Linear'> ***\nTest RMSE: 2.02\nTest MAE: 1.43\n";
    let runs = read(text).runs;
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.observations.len() == 2), "{runs:?}");
    // A banner that comes again with every epoch parts nothing.
    let text = "*** results ***\nloss: 0.36\n*** results ***\nloss: 0.26\n*** results ***\nloss: 0.16\n";
    assert_eq!(read(text).runs.len(), 1);
    let text =
        "[SGD]\nEpoch 1/2 loss: 2.5\nEpoch 2/2 loss: 1.5\n[Adam]\nEpoch 1/2 loss: 2.0\nEpoch 2/2 loss: 1.0\n";
    assert_eq!(read(text).runs.len(), 2);
    // Steps that begin again in the next epoch are not another run.
    let text = "Epoch 0 | Step 0 | Loss 6.1\nEpoch 0 | Step 20 | Loss 2.6\nEpoch 1 | Step 0 | Loss 2.0\nEpoch 1 | Step 20 | Loss 1.6\n";
    assert_eq!(read(text).runs.len(), 1);
}

#[test]
fn a_mean_behind_what_it_is_the_mean_of_has_a_name_of_its_own() {
    let text = "fold 1: acc=0.91\nfold 2: acc=0.92\nmean acc: 0.915\n";
    assert_eq!(value(text, "accuracy"), Some(0.92));
    assert_eq!(value(text, "accuracy.mean"), Some(0.915));
    assert_eq!(series("Top-1: 76.13%\nTop-1: 76.2\n", "accuracy"), [0.7613, 0.762]);
}

#[test]
fn what_looks_like_a_metric_and_is_none() {
    for text in
        ["power: 0.75", " 1: 686.41, 686.41 avg, 0.000000 rate, 64 images", "underwriting_score     1976"]
    {
        assert_eq!(names(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn dumps_of_arguments_are_settings() {
    let run = run("Namespace(batch_size=128, lr=0.0002, cuda=True, eval_only=False)\nEpoch 1 loss 0.5\n");
    let setting =
        |name: &str| run.settings.iter().find(|fact| fact.name == name).map(|fact| fact.value.to_string());
    assert_eq!(setting("batch_size").as_deref(), Some("128"));
    assert_eq!(setting("learning_rate").as_deref(), Some("0.0002"));
}

#[test]
fn several_epochs_on_one_line_are_several_lines() {
    let text = "epoch 1: loss=2.5 acc=0.11; epoch 2: loss=1.9 acc=0.22; epoch 3: loss=1.7 acc=0.33\n";
    assert_eq!(series(text, "loss"), [2.5, 1.9, 1.7]);
    assert_eq!(series(text, "accuracy"), [0.11, 0.22, 0.33]);
}

#[test]
fn the_number_of_an_epoch_is_not_one_of_its_batches() {
    let text = "Epoch 1 [10/20] loss 2.0\nEpoch 1 [20/20] loss 1.8\nEpoch 1 loss 1.9\nEpoch 2 [10/20] loss 1.5\nEpoch 2 [20/20] loss 1.3\nEpoch 2 loss 1.4\n";
    assert_eq!(series(text, "loss"), [2.0, 1.8, 1.5, 1.3]);
    assert_eq!(series(text, "loss.epoch"), [1.9, 1.4]);
}

#[test]
fn a_time_that_grows_with_the_epochs_is_that_since_the_start() {
    let text =
        "Epoch 5, Time 40.5s, Loss 0.5\nEpoch 10, Time 80.5s, Loss 0.4\nEpoch 15, Time 121.0s, Loss 0.3\n";
    assert_eq!(series(text, "duration.elapsed"), [40.5, 80.5, 121.0]);
    assert_eq!(value(text, "epoch_s"), None);
    let text =
        "Epoch 1, Time 40.5s, Loss 0.5\nEpoch 2, Time 40.6s, Loss 0.4\nEpoch 3, Time 40.9s, Loss 0.3\n";
    assert_eq!(series(text, "epoch_s"), [40.5, 40.6, 40.9]);
}

#[test]
fn names_and_numbers_side_by_side() {
    assert_eq!(
        value("rtt min/avg/max/mdev = 0.031/0.045/0.062/0.011 ms", "duration.rtt.max"),
        Some(0.062 * 1e-3)
    );
    assert_eq!(value("test P/R/F1: 0.91/0.88/0.89", "f1"), Some(0.89));
    assert_eq!(value("latency p50/p99 (ms): 12.5/99.5", "latency.p99"), Some(99.5 * 1e-3));
    assert_eq!(names("saved to 12.5/99.5"), Vec::<String>::new());
}

#[test]
fn percentiles_below_their_heading() {
    let text = "    lat percentiles (usec):\n     | 50.00th=[  290], 99.00th=[ 7500], 99.90th=[ 9100]\n";
    assert_eq!(value(text, "latency.p99"), Some(7500.0 * 1e-6));
    assert_eq!(value(text, "latency.p99.9"), Some(9100.0 * 1e-6));
    let text =
        "Latency by percentile distribution:\n50.000% <= 0.295 milliseconds (cumulative count 50885)\n";
    assert_eq!(value(text, "latency.p50"), Some(0.295 * 1e-3));
}

#[test]
fn statistics_have_the_unit_of_their_heading() {
    let text = "Latency (ms):\n         min:    48.0\n         95th percentile:    90.0\n";
    assert_eq!(value(text, "latency.min"), Some(0.048));
    assert_eq!(value(text, "latency.p95"), Some(0.09));
    // The unit of another noun is not borrowed.
    let text = "  lat (usec): min=102, avg=6851.5\n  iops: min=9, avg=105.5\n";
    assert_eq!(value(text, "latency.mean"), Some(6851.5 * 1e-6));
    assert_eq!(value(text, "iops.mean"), Some(105.5));
}

#[test]
fn columns_under_groups_and_units() {
    let text = "       Count        Time, us                    Bandwidth, GB/s\n                    avg         min         max         avg         min         max\n       64     76.5       72.5       82.5       24.0       25.5       22.5\n       128    121.5      118.5      125.5      30.0       31.5       29.5\n";
    assert_eq!(value(text, "duration.max"), Some(125.5 * 1e-6));
    assert_eq!(value(text, "bytes_per_s.min"), Some(31.5e9));
    let text = "loss 1.5, acc 0.5\n#                    out-of-place          in-place\n#   size   count     time   algbw   busbw     time   algbw   busbw\n#    (B)             (us)  (GB/s)  (GB/s)     (us)  (GB/s)  (GB/s)\n    1024     256     76.5    13.5    24.5     75.5    14.5    25.5\n    2048     512     86.5    23.5    34.5     85.5    24.5    35.5\n";
    assert_eq!(value(text, "duration.inplace"), Some(85.5 * 1e-6));
    assert_eq!(value(text, "bytes_per_s.outofplace_bus"), Some(34.5e9));
    let text = "loss 1.5, acc 0.5\nBenchmark            Mode  Cnt       Score       Error   Units\nParser.decode        avgt    5      58.5 ±     9.5   us/op\nParser.encode        avgt    5      62.5 ±     3.5   us/op\n";
    assert_eq!(value(text, "latency.per_op.parser_decode"), Some(58.5 * 1e-6));
}

#[test]
fn what_stands_beside_a_number_and_is_not_its_name() {
    assert_eq!(names("decode took 2.25s ± 3%"), names("decode took 2.25s"));
    let text = "12:00:00 INFO - evaluate:dev\n12:00:01 INFO - accuracy: 7.5%; recall: 1.5%\n12:00:01 INFO - evaluate:test\n12:00:02 INFO - accuracy: 8.5%; recall: 2.5%\n";
    assert_eq!(names(text), ["accuracy.eval", "accuracy.test", "recall.eval", "recall.test"]);
    // A number before `percentile` belongs to the name.
    let text = "90.00 percentile latency (ns)   : 7000\n99.90 percentile latency (ns)   : 9000\n";
    assert_eq!(names(text), ["latency.p90", "latency.p99.9"]);
    // A rate before a bare number is the key of that one.
    let text = "lat: 26.5 err/s 1.50 reconn/s: 0.25";
    assert_eq!(value(text, "err_per_s"), Some(1.5));
    // A change is no mean, a counter is no label, an error that is counted is no rate.
    assert_eq!(names("loss: 2.63 (-0.5)"), ["loss"]);
    assert_eq!(names("Step 117     [2.900 sec/step, loss=0.29]"), ["loss", "step_s"]);
    assert_eq!(names("ignored errors:     0"), Vec::<String>::new());
    assert_eq!(value("step 4 loss=0.25, avg_loss=0.35", "loss.mean"), Some(0.35));
    // The score of a split, beside its loss.
    assert_eq!(
        value("Epoch: 9, Loss: 1.7, Train: 95.5%, Valid: 92.5%, Test: 80.5%", "score.test"),
        Some(0.805)
    );
    // A rate of one device.
    assert_eq!(value("step 1, TFLOP/s/device: 5.5, loss: 1.5", "flops_per_s.device"), Some(5.5 * 1e12));
    // Whole numbers under unknown keys that never vary say nothing.
    assert_eq!(names("read: groupid=0, latency=1.5ms\nread: groupid=0, latency=1.6ms\n"), ["latency"]);
}
