//! Printouts of benchmarks and of people who write in other languages.

use super::{names, read, run, value};

fn steps(text: &str, metric: &str) -> Vec<f64> {
    run(text)
        .series
        .into_iter()
        .find(|series| series.metric == metric)
        .map(|series| series.steps)
        .unwrap_or_default()
}

#[test]
fn other_languages_name_the_same_metrics() {
    let german = "Epoche 1/2: Verlust = 0,6931, Genauigkeit = 51,20 %\nEpoche 2/2: Verlust = 0,5120, Genauigkeit = 70,10 %\nValidierungsgenauigkeit: 75,00 %\nGesamtzeit: 36,6 s\n";
    assert_eq!(value(german, "loss"), Some(0.512));
    assert_eq!(value(german, "accuracy"), Some(0.701));
    assert_eq!(value(german, "accuracy.eval"), Some(0.75));
    assert_eq!(value(german, "duration.total"), Some(36.6));
    let french = "Époque 1/2 - perte : 0.6931 - perte de validation : 0.7012\nÉpoque 2/2 - perte : 0.5120 - perte de validation : 0.5512\n";
    assert_eq!(names(french), ["loss", "loss.eval"]);
    let spanish =
        "Época 1/2 | pérdida: 0.6931 | exactitud: 51.2%\nÉpoca 2/2 | pérdida: 0.5120 | exactitud: 70.1%\n";
    assert_eq!(names(spanish), ["accuracy", "loss"]);
    let russian = "Эпоха 1/2: потери = 0.69, точность = 51.2%\nЭпоха 2/2: потери = 0.51, точность = 70.1%\n";
    assert_eq!(names(russian), ["accuracy", "loss"]);
    let japanese =
        "エポック 1/2: 訓練損失 = 0.69, 検証精度 = 51.2%\nエポック 2/2: 訓練損失 = 0.51, 検証精度 = 70.1%\n";
    assert_eq!(names(japanese), ["accuracy.eval", "loss.train"]);
    let chinese = "第 1 轮 训练损失: 0.69 验证准确率：51.2% 耗时: 12.5秒\n第 2 轮 训练损失: 0.51 验证准确率：70.1% 耗时: 12.25秒\n";
    assert_eq!(value(chinese, "loss.train"), Some(0.51));
    assert_eq!(value(chinese, "accuracy.eval"), Some(0.701));
    assert_eq!(steps(chinese, "loss.train"), [1.0, 2.0]);
}

#[test]
fn a_comma_of_decimals_is_one_only_where_that_is_certain() {
    assert_eq!(value("loss=0,6875 acc=0.5", "loss"), Some(0.6875));
    assert_eq!(value("latency: 1,234 ms", "latency"), Some(1.234e3 * 1e-3));
    // Devices and shapes.
    assert_eq!(names("devices: 0,1"), Vec::<String>::new());
    assert_eq!(value("loss=0.5 shape=3,224,224", "loss"), Some(0.5));
}

#[test]
fn labels_below_a_heading_that_names_the_metric() {
    let text = "Inference time (ms)\n  small: 12.5\n  large: 31.25\nnote: done\n  other: 3.5\n";
    assert_eq!(names(text), ["latency.large", "latency.small"]);
    let text = "Accuracy:\n  cat: 0.75\n  dog: 0.5\n  epochs: 10\n";
    assert_eq!(names(text), ["accuracy.cat", "accuracy.dog"]);
}

#[test]
fn indented_blocks_have_the_split_and_the_name_of_the_line_above() {
    let text =
        "Analysis of 90 entries in the validation set\n   MAE = 0.25\n   RMSE = 0.5\nDone\nMAE = 0.75\n";
    assert_eq!(names(text), ["mae", "mae.eval", "rmse.eval"]);
    let text = "codec/decode/small\n       time:   [6.25 ns 6.5 ns 6.75 ns]\ncodec/decode/large\n       time:   [960.25 ps 962.5 ps 966.75 ps]\n";
    assert_eq!(names(text), ["duration.codec_decode_large", "duration.codec_decode_small"]);
    assert_eq!(value(text, "duration.codec_decode_large"), Some(962.5 * 1e-12));
}

#[test]
fn histograms_are_no_percentiles() {
    let text = "  clat percentiles (usec):\n   | 99.00th=[ 6250]\n  lat (usec)   : 250=0.05%, 500=22.25%, 1000=60.5%\n   bw (  KiB/s): min=  350, max=65500, per=1.02%, avg=9825.5, samples=23442\n  issued rwts: total=0,23442,0,0\n";
    assert_eq!(
        names(text),
        ["bytes_per_s.max", "bytes_per_s.mean", "bytes_per_s.min", "latency.completion.p99"]
    );
}

#[test]
fn distributions_without_signs() {
    let text = "Latency distribution:\n  10% in 0.0050 secs\n  99% in 0.0300 secs\n";
    assert_eq!(names(text), ["latency.p10", "latency.p99"]);
}

#[test]
fn names_and_values_in_two_lists() {
    let text = "Latencies  [min, mean, 99, max]  1.25ms, 2.5ms, 8.5ms, 9.75ms\n";
    assert_eq!(names(text), ["latency.max", "latency.mean", "latency.min", "latency.p99"]);
    assert_eq!(value(text, "latency.p99"), Some(8.5e-3));
}

#[test]
fn benchmarks_of_servers_and_databases() {
    let text = "    transactions:                        11063  (368.50 per sec.)\n";
    assert_eq!(value(text, "transactions_per_s.transaction"), Some(368.5));
    let text = "transaction type: simple\ntps = 243.5 (including connections establishing)\ntps = 248.25 (excluding connections establishing)\n";
    assert_eq!(
        names(text),
        [
            "transactions_per_s.excluding_connection_establishing",
            "transactions_per_s.including_connection_establishing"
        ]
    );
    let text = "[READ], AverageLatency(us), 342.5\n[UPDATE], AverageLatency(us), 401.5\n[READ], 95thPercentileLatency(us), 612\n";
    assert_eq!(names(text), ["latency.read.mean", "latency.read.p95", "latency.update.mean"]);
    let text = "http_req_duration..............: avg=21.25ms  p(90)=31.5ms\n";
    assert_eq!(names(text), ["duration.http_req.mean", "duration.http_req.p90"]);
    let text = "Execution time with 1 thread: 2395.5 ms\nExecution time with 4 threads: 627.5 ms\n";
    assert_eq!(names(text), ["duration.1_thread", "duration.4_thread"]);
    assert_eq!(value("Speedup: 2395.5 ms / 627.5 ms = 3.82 ms\n", "speedup"), Some(3.82));
}

#[test]
fn benchmarks_of_go_and_rust() {
    let text = "BenchmarkDecode-8   \t 1203450\t   998.5 ns/op\t  256 B/op\t   3 allocs/op\nok  \texample.org/codec\t3.412s\n";
    assert_eq!(
        names(text),
        [
            "allocations.per_op.benchmark_decode_8",
            "duration.total",
            "latency.per_op.benchmark_decode_8",
            "memory.per_op.benchmark_decode_8"
        ]
    );
    let text = "test parse_small ... bench:       1,234 ns/iter (+/- 45)\ntest parse_large ... bench:      41,234 ns/iter (+/- 95)\n";
    assert_eq!(names(text), ["step_s.parse_large", "step_s.parse_small"]);
}

#[test]
fn intervals_are_no_values() {
    let text = "[  3]  0.0- 1.0 sec  20.0 MBytes   168 Mbits/sec\n[  3]  1.0- 2.0 sec  0.00 Bytes  0.00 bits/sec\n[  5]   0.00-1.00   sec  1.09 GBytes  9.50 Gbits/sec    0   1.21 MBytes\n";
    assert_eq!(names(text), ["bits_per_s"]);
    assert_eq!(value(text, "bits_per_s"), Some(9.5e9));
}

#[test]
fn settings_in_events_are_no_metrics() {
    let text =
        "{\"event\": \"config\", \"dropout\": 0.25, \"score\": 0.5}\n{\"event\": \"eval\", \"acc\": 0.75}\n";
    let run = read(text).runs.into_iter().next().unwrap_or_default();
    assert!(
        run.observations.iter().all(|found| found.metric.starts_with("accuracy")),
        "{:?}",
        run.observations
    );
}

#[test]
fn a_bar_and_the_line_of_its_epoch_are_two_series() {
    let text = "Epoch 1: 100%|██████████| 10/10 [00:02<00:00, 5.00it/s, loss=1.90]\nEpoch 1: train_loss=2.25\nEpoch 2: 100%|██████████| 10/10 [00:02<00:00, 5.00it/s, loss=1.60]\nEpoch 2: train_loss=1.75\n";
    let found = names(text);
    assert!(
        found.contains(&"loss.train".to_owned()) && found.contains(&"loss.train.epoch".to_owned()),
        "{found:?}"
    );
    assert_eq!(value(text, "loss.train.epoch"), Some(1.75));
}

#[test]
fn what_stands_behind_a_value_is_not_its_mean_or_spread() {
    let text = "blocked      :   345.5 ms   (3.5x)\n";
    assert_eq!(names(text), ["duration.blocked", "speedup.blocked"]);
    assert_eq!(names("Latency mean : 6.5 ms [WRITE: 6.5 ms]\n"), ["latency.mean", "latency.write.mean"]);
    assert!(!names("Pub: 1,012,345 msgs/sec ~ 123.5 MB/sec\n").iter().any(|name| name.ends_with(".std")));
    assert_eq!(names("loss: 2.5, 12.5 hours left\n"), ["loss"]);
    assert_eq!(
        names("Latency: min = 0.75 ms, percentile(90%) = 0.85 ms, percentile(99%) = 0.95 ms\n"),
        ["latency.min", "latency.p90", "latency.p99"]
    );
}

#[test]
fn banners_of_two_signs_and_the_best_epoch() {
    let text = "== ridge ==\nMSE: 0.25\nMAE: 0.5\n== lasso ==\nMSE: 0.75\nMAE: 0.25\n";
    assert_eq!(read(text).runs.len(), 2);
    let text = "fold 1/5 - best epoch 12 - val AUC 0.75\nfold 2/5 - best epoch 9 - val AUC 0.5\n";
    assert_eq!(steps(text, "auc.eval"), [1.0, 2.0]);
}

#[test]
fn columns_of_boxes_and_averages_below_them() {
    let text = "|  Epoch  |  Iteration  |  Mini-batch  |  Validation  |  Mini-batch  |\n|         |             |   Accuracy   |   Accuracy   |     Loss     |\n|       1 |           1 |       10.25% |       12.75% |       2.6875 |\n|       2 |          50 |       71.75% |       75.00% |       0.8125 |\n";
    assert_eq!(value(text, "accuracy.eval"), Some(0.75));
    assert_eq!(steps(text, "accuracy.eval"), [1.0, 50.0]);
    let text = "loss 1.5\n                 Precision  Recall   F1    MCC    Class\n                 1.000      0.980    0.990  0.985  first\nWeighted Avg.    0.960      0.950    0.940  0.930\n";
    assert_ne!(value(text, "recall.weighted"), Some(0.96));
}
