use super::*;

fn texts(text: &str) -> Vec<String> {
    quantities(text).into_iter().map(|quantity| quantity.text).collect()
}

#[test]
fn names_versions_dates_and_times_are_no_quantities() {
    for text in [
        "AMD Ryzen 9 5950X and an RTX 4090 with PyTorch 2.5.1 and CUDA 12.4",
        "Llama-3-8B on an H100, see Table 2 and Section 6, issue #571",
        "on 2025-05-12 at 09:14:06, 12 September, Tue, 8 Apr 2025 16:41:07",
        "ViT-B/16 in int8 with 4-bit weights on a v3-32 slice",
    ] {
        assert_eq!(texts(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn quantities_have_their_units() {
    let found = quantities(
        "2,310 generated tokens per second at 9.8 s, 34 % less, 1.6x, from 26.8k to 22.0k tokens/s",
    );
    let texts: Vec<&str> = found.iter().map(|quantity| quantity.text.as_str()).collect();
    assert_eq!(
        texts,
        ["2,310 generated tokens per second", "9.8 s", "34 %", "1.6x", "26.8k", "22.0k tokens/s"]
    );
    assert!(
        found[0].unit.is_rate() && found[1].unit.is_time() && found[2].unit.percent && found[3].unit.times
    );
    assert_eq!(found[5].value, 22_000.0);
}

#[test]
fn words_and_hedges() {
    let found = quantities(
        "about eight times as expensive, half the speed, two thirds faster, 1 h 55 min, nearly doubled",
    );
    let values: Vec<f64> = found.iter().map(|quantity| quantity.value).collect();
    assert_eq!(values[..2], [8.0, 0.5]);
    assert!((values[2] - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(values[3..], [6900.0, 2.0]);
    assert!(found[0].hedged && found[0].low < 7.6);
}

#[test]
fn joined_numbers_share_their_unit() {
    let values =
        |text: &str| -> Vec<f64> { quantities(text).iter().map(|quantity| quantity.value).collect() };
    assert_eq!(values("from 14.2 to 9.95 min"), [852.0, 597.0]);
    assert_eq!(values("96 s instead of 130.2"), [96.0, 130.2]);
    assert_eq!(values("3 m 05 s, 2 hours and 5 minutes, 1h05m"), [185.0, 7500.0, 3900.0]);
    assert!(quantities("7 of 20 runs, with 4 and 8 nodes").iter().all(|quantity| quantity.unit.is_count()));
}
