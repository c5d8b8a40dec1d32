use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Vec<Array> {
    let mut arrays = Arrays::default();
    for (index, line) in text.lines().enumerate() {
        if !arrays.push(index as u64 + 1, line) {
            break;
        }
    }
    arrays.finish()
}

#[test]
fn arrays_over_several_lines() {
    let found = read("forward [139.71 139.52\n 139.6   3. ]\nforward-backward [520.85 520.93\n 592.32]");
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].metric.as_str(), found[1].metric.as_str()),
        ("time.forward", "time.forward_backward")
    );
    assert_eq!(found[0].values, [139.71, 139.52, 139.6, 3.0]);
    assert_eq!((found[1].first, found[1].last, found[1].seen), (3, 4, 3));
    assert_eq!(found[0].unit, unknown());
    assert!(found[0].complete);
}

#[test]
fn tensors_and_lists() {
    let found = read("logits: tensor([[-1.5,  2.25]], dtype=torch.float16)");
    assert_eq!((found[0].metric.as_str(), found[0].values.as_slice()), ("logits", [-1.5, 2.25].as_slice()));
    assert_eq!(found[0].unit, Unit::One);
    let found = read("probabilities: tensor([[0.25, 0.75]])");
    assert_eq!((found[0].metric.as_str(), &found[0].unit), ("probabilities", &Unit::Fraction));
    assert_eq!(read("step times (ms) = [100, 250.0]")[0].values, [0.1, 0.25]);
    assert_eq!(read("latency: [1.5 2.5] ms")[0].values, [0.0015, 0.0025]);
    let found = read("{'forward': [1.5, 2.5], 'backward': [3.5]}");
    assert_eq!(
        found.iter().map(|one| one.metric.as_str()).collect::<Vec<_>>(),
        ["time.forward", "time.forward_backward"]
    );
}

#[test]
fn whole_numbers_and_sweeps_are_no_measurements() {
    assert_eq!(read("input_ids: tensor(\n   [[ 101, 2003,\n  0,  0]]),"), []);
    assert_eq!(read("batch sizes = [8, 16, 32]"), []);
    for text in [
        "[01:49<00:00, 10.99s/it]",
        "Epochs: 100%|██| 10/10 [01:49<00:00, 10.99s/it]",
        "[1,0]<stdout>: x",
        "see [1] and [2.5]",
        "Vary it to [8, 16, 32] while epochs = 10",
        "",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn an_array_that_breaks_off_is_marked() {
    let found = read("forward [1.5 2.5");
    assert_eq!((found[0].values.len(), found[0].complete), (2, false));
    assert_eq!(read("forward [1.5 nan 2.5]")[0].seen, 3);
}

#[test]
fn long_arrays_are_counted_and_cut() {
    let mut arrays = Arrays::default();
    arrays.push(1, "times = [");
    for line in 0..1100 {
        arrays.push(line + 2, &"0.5, ".repeat(100));
    }
    let found = arrays.finish();
    assert_eq!((found[0].values.len(), found[0].seen), (MOST_VALUES, 110_000));
}

proptest! {
    #[test]
    fn any_lines_are_read_without_panic(lines in proptest::collection::vec("[a-z\\[\\]()=:,. 0-9-]{0,30}|.*", 0..6)) {
        let _ = read(&lines.join("\n"));
        let _ = lines.iter().any(|line| starts(line));
    }

    #[test]
    fn printed_lists_read_back(values in proptest::collection::vec(-1e6_f64..1e6, 1..50)) {
        let text = format!("times = {values:?}");
        prop_assert_eq!(&read(&text)[0].values, &values);
    }
}

#[test]
fn labels_give_settings() {
    let settings = |text: &str| -> Vec<(String, String)> {
        let found = read(text);
        found[0].settings().into_iter().map(|(name, value)| (name, value.to_string())).collect()
    };
    assert_eq!(settings("block 16 rate [1.5 2.5 3.5]"), [("block".into(), "16".into())]);
    assert_eq!(settings("batch size 8 latency: [1.5 2.5 3.5]"), [("batch_size".into(), "8".into())]);
    assert!(settings("forward [1.5 2.5 3.5]").is_empty());
    assert!(settings("forward 2 [1.5 2.5 3.5]").is_empty());
    assert!(settings("run 1 time [1.5 2.5 3.5]").is_empty());
}
