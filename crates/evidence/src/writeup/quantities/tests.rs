use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Vec<(f64, Option<f64>, String, Option<String>)> {
    let shape = |one: Quantity| (one.value, one.to, one.unit.to_string(), one.name);
    quantities(text).into_iter().map(shape).collect()
}

fn one(value: f64, unit: &str, name: Option<&str>) -> (f64, Option<f64>, String, Option<String>) {
    (value, None, unit.to_owned(), name.map(str::to_owned))
}

#[test]
fn a_change_of_a_setting_and_of_a_time() {
    let found = read(
        "With the batch size raised from 512 to 2048, the processing time grew from 175 seconds to 304 seconds.",
    );
    assert_eq!(
        found,
        [
            one(512.0, "", Some("batch_size")),
            one(2048.0, "", Some("batch_size")),
            one(175.0, "s", Some("duration.reported")),
            one(304.0, "s", Some("duration.reported")),
        ]
    );
}

#[test]
fn lists_share_unit_and_name() {
    let found = read(
        "Runs of 10, 4, and 14 epochs gave test accuracies of 97.13%, 98.58%, and 98.43%, respectively.",
    );
    let epochs = [10.0, 4.0, 14.0].map(|value| one(value, "epochs", Some("epochs")));
    let accuracies = [0.9713, 0.9858, 0.9843].map(|value| one(value, "fraction", Some("accuracy")));
    assert_eq!(found, [epochs, accuracies].concat());
}

#[test]
fn rates_shares_factors_and_ranges() {
    let found = read(
        "The average rate holds at ~33 samples/sec (32.84 to 34.10 samples/sec), 3.8% apart for an 8× difference in batch size.",
    );
    assert_eq!(found[0], one(33.0, "samples/s", Some("samples_per_s.instant")));
    assert_eq!((found[1].0, found[1].1), (32.84, Some(34.1)));
    assert_eq!(found[2], one(0.038, "fraction", None));
    assert_eq!(found[3], one(8.0, "times", Some("batch_size")));
    let found =
        read("Answers came 3× faster at 3× higher throughput and a 100% success rate for 37-179 characters.");
    assert_eq!(found[1], one(3.0, "times", None));
    assert_eq!(found[2], one(1.0, "fraction", Some("success")));
    assert_eq!(found[3], (37.0, Some(179.0), "characters".to_owned(), None));
}

#[test]
fn times_in_parts_factors_in_words_and_changes_of_unit() {
    assert_eq!(read("It took 3 min 12 s."), [one(192.0, "s", None)]);
    assert_eq!(read("It went up by a factor of 2."), [one(2.0, "times", None)]);
    let found = read("Memory grew by 12% to 23.1 GB, than the baseline's 288 s.");
    assert_eq!(found, [one(0.12, "fraction", None), one(23.1e9, "B", Some("memory")), one(288.0, "s", None)]);
}

#[test]
fn a_statistic_may_stand_apart_from_its_metric() {
    let found = read("Mean TTFT was 120.5 ms and p99 was 340 ms.");
    assert_eq!(found, [one(0.1205, "s", Some("ttft")), one(0.34, "s", Some("ttft.p99"))]);
}

#[test]
fn labels_and_names_are_no_quantities() {
    assert_eq!(read("Table 1 and Figure 2 show gpt-2 on the CS-3 with Release 2.6.0."), []);
    assert_eq!(read("The run with batch size = 32 was kept."), [one(32.0, "", Some("batch_size"))]);
    assert_eq!(read("A loss of 7.125 was seen."), [one(7.125, "", Some("loss.train"))]);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in ".*", odd in "[0-9.,%×~ a-z-]{0,60}") {
        let _ = (quantities(&text), quantities(&odd));
    }
}
