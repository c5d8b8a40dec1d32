use super::*;
use proptest::prelude::*;

fn read(text: &str) -> (Option<f64>, Option<String>) {
    let parts = cell(text, None);
    (parts.value, parts.unit.map(|unit| unit.to_string()))
}

#[test]
fn numbers_as_people_write_them() {
    for (text, value, unit) in [
        ("512", 512.0, None),
        ("8,615", 8615.0, None),
        ("250.7ms", 0.2507, Some("s")),
        ("98.05%", 0.9805, Some("fraction")),
        ("1.98B", 1.98e9, None),
        ("120.9M", 120.9e6, None),
        ("**3.07× faster (B)**", 3.07, Some("times")),
        ("2.86x", 2.86, Some("times")),
        ("10/10 (100%)", 1.0, Some("fraction")),
        ("4.987s", 4.987, Some("s")),
        ("203.98 tokens/sec", 203.98, Some("tokens/s")),
        ("1.2 ± 0.3", 1.2, None),
        ("1.2 ± 0.3 ms", 0.0012, Some("s")),
        ("~33", 33.0, None),
        ("1e-3", 0.001, None),
        ("0:05:12", 312.0, Some("s")),
        ("1h 5m 12s", 3912.0, Some("s")),
        ("2m30s", 150.0, Some("s")),
        ("4.5*", 4.5, None),
        ("12.5 (best)", 12.5, None),
        ("3 of them", 3.0, None),
        ("1.2M samples/s", 1.2e6, Some("samples/s")),
    ] {
        assert_eq!(read(text), (Some(value), unit.map(str::to_owned)), "{text}");
    }
}

#[test]
fn what_is_missing_has_no_value_and_may_be_a_problem() {
    for text in ["-", "--", "n/a", "—"] {
        let parts = cell(text, None);
        assert_eq!((parts.value, parts.problem), (None, None), "{text}");
    }
    for text in
        ["", "TBD", "?", "OOM", "NaN", "1069.6msa", "3,07", "12q", "115.97 tokens/seca", "31.49 ± 0.07a"]
    {
        let parts = cell(text, None);
        assert!(parts.value.is_none() && parts.problem.is_some(), "{text}");
    }
    let problem = cell("1069.6msa", None).problem.unwrap();
    assert_eq!(problem, "letters `a` behind the unit in `1069.6msa`");
    for text in ["small", "2024-03-30", "2.6.0", "10-20", "8/16", "gpt-oss-120b", "8, 16, 32"] {
        let parts = cell(text, None);
        assert_eq!((parts.value, parts.problem), (None, None), "{text}");
    }
}

#[test]
fn the_header_tells_the_unit_of_bare_numbers() {
    let header = (Unit::Seconds, 1e-3);
    assert_eq!(cell("250.7", Some(&header)).value, Some(0.2507));
    assert_eq!(cell("2 s", Some(&header)).value, Some(2.0));
    assert_eq!(cell("6.74 B", Some(&(Unit::One, 1.0))).value, Some(6.74e9));
    assert_eq!(cell("6.5 MB", Some(&(Unit::Bytes, 1.0))).value, Some(6.5e6));
    assert_eq!(cell("9/10", Some(&(Unit::Fraction, 1.0))).out_of, Some(10.0));
    assert_eq!(cell("05:12", Some(&(Unit::Seconds, 1.0))).value, Some(312.0));
    assert_eq!(cell("1.2 ± 0.3", Some(&header)).spread, Some(0.0003));
}

#[test]
fn a_cell_may_list_numbers() {
    let header = (Unit::PerSecond("B".into()), 1e6);
    assert_eq!(list("1.5, 2.5, 3", Some(&header)), Some(vec![1.5e6, 2.5e6, 3e6]));
    assert_eq!(list("[0.1; 0.2; 0.3]", None), Some(vec![0.1, 0.2, 0.3]));
    for text in ["1,234", "8, 16", "1, 2, many", "", "1,2,3", "12.5 (best, worst, mean)"] {
        assert_eq!(list(text, None), None, "{text}");
    }
}

#[test]
fn resolution_is_in_base_units() {
    assert_eq!(written_resolution("97.13%"), Some(0.0001));
    assert_eq!(written_resolution("0.05 ms"), Some(1e-5));
    assert_eq!(written_resolution("8,615"), Some(1.0));
    assert_eq!(written_resolution("1.98B"), Some(1e7));
    assert_eq!(written_resolution("TBD"), None);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in ".*", odd in "[0-9.,:/%×±()kmMBs~ e+-]{0,24}") {
        let _ = (cell(&text, None), cell(&odd, None), cell(&odd, Some(&(Unit::Seconds, 1e-3))));
    }

    #[test]
    fn numbers_in_many_styles_read_back(whole in 0_u32..2_000_000, cents in 0_u32..100) {
        let number = f64::from(whole) + f64::from(cents) / 100.0;
        let mut thousands = whole.to_string();
        let mut at = thousands.len();
        while at > 3 {
            at -= 3;
            thousands.insert(at, ',');
        }
        for text in [
            format!("{whole}.{cents:02}"),
            format!("**{thousands}.{cents:02}**"),
            format!("{thousands}.{cents:02} samples/sec"),
            format!("~{whole}.{cents:02} (x)"),
            format!("`{number:e}`"),
        ] {
            let value = cell(&text, None).value.unwrap();
            prop_assert!((value - number).abs() <= 1e-9 * number.max(1.0), "{}", text);
        }
        let percent = cell(&format!("{whole}.{cents:02}%"), None).value.unwrap();
        prop_assert!((percent * 100.0 - number).abs() <= 1e-9 * number.max(1.0));
    }
}
