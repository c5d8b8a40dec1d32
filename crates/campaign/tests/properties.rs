//! What holds for every campaign file.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use assay_campaign::{Campaign, Catalog, Plan, PlanContext, Registry};
use assay_model::Value;
use proptest::prelude::*;

fn registry() -> Registry {
    Registry {
        launchers: vec!["local".into()],
        platforms: Catalog::embedded().platforms().to_vec(),
        ..Registry::default()
    }
}

fn plan(text: &str) -> Plan {
    let campaign = Campaign::parse("c.toml", text, Path::new("."), &registry()).unwrap();
    campaign.plan(&PlanContext::default()).unwrap()
}

/// A file with these axes, an exclusion by the sum of all settings, and extra points far from the matrix.
fn file(axes: &[Vec<i64>], limit: i64, points: usize, reversed: bool) -> String {
    let names: Vec<String> = (0..axes.len()).map(|index| format!("s{index}")).collect();
    let sum = names.join(" + ");
    let placeholders = names.iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> =
        names.iter().zip(axes).map(|(name, values)| format!("{name} = {values:?}\n")).collect();
    if reversed {
        lines.reverse();
    }
    let mut text =
        format!("name = 'x'\n[workload]\ncommand = 'run {placeholders}'\n[vary]\n{}", lines.concat());
    for point in 0..points {
        text.push_str("[[point]]\n");
        for name in &names {
            text.push_str(&format!("{name} = {}\n", 1_000 + point));
        }
    }
    text.push_str(&format!("[where]\nexclude = ['{sum} > {limit}']\nrequire = ['s0 >= 0']\n"));
    text
}

fn axes() -> impl Strategy<Value = Vec<Vec<i64>>> {
    let axis = prop::collection::btree_set(0_i64..50, 1..6).prop_map(|values| values.into_iter().collect());
    prop::collection::vec(axis, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn expansion_is_the_product_less_the_excluded_and_the_points(axes in axes(), limit in 0_i64..150, points in 1_usize..4) {
        let plan = plan(&file(&axes, limit, points, false));
        let product: usize = axes.iter().map(Vec::len).product();
        prop_assert_eq!(plan.cells.len(), product - plan.excluded + points);
        let different: BTreeSet<String> = plan.cells.iter().map(|cell| cell.cell.to_string()).collect();
        prop_assert_eq!(different.len(), plan.cells.len());
        for cell in &plan.cells {
            let values: Vec<i64> = cell.settings.values().filter_map(|value| match value {
                Value::Integer(number) => Some(*number),
                _ => None,
            }).collect();
            prop_assert!(values.iter().sum::<i64>() <= limit || values[0] >= 1_000);
            prop_assert!(values[0] >= 0);
        }
    }

    #[test]
    fn the_order_of_keys_does_not_change_points(axes in axes(), points in 1_usize..3) {
        let ids = |reversed| -> BTreeSet<String> {
            plan(&file(&axes, 1_000, points, reversed)).cells.iter().map(|cell| cell.cell.to_string()).collect()
        };
        prop_assert_eq!(ids(false), ids(true));
    }

    #[test]
    fn every_round_is_a_permutation(axes in axes(), round in any::<u32>(), seed in 0_i64..i64::MAX) {
        let text = format!("{}[order]\nseed = {seed}\n", file(&axes, 1_000, 1, false));
        let plan = plan(&text);
        let mut order = plan.round(round);
        order.sort_unstable();
        prop_assert_eq!(order, (0..plan.cells.len()).collect::<Vec<_>>());
    }

    #[test]
    fn no_text_panics(text in "\\PC*", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for text in [text.as_str(), &String::from_utf8_lossy(&bytes)] {
            if let Err(problems) = Campaign::parse("c.toml", text, Path::new("."), &registry()) {
                prop_assert!(problems.has_errors());
                problems.render(true);
                serde_json::to_string(&problems).unwrap();
            }
            if let Err(problems) = Catalog::parse("c.toml", text) {
                problems.render(false);
            }
        }
    }

    /// Files near to right ones reach further than random text: the example with a piece cut out or put elsewhere.
    #[test]
    fn no_damaged_file_panics(start in 0_usize..4_000, length in 0_usize..80, to in 0_usize..4_000, uncomment in any::<bool>()) {
        let example = match uncomment {
            true => assay_campaign::EXAMPLE.replace("\n# ", "\n"),
            false => assay_campaign::EXAMPLE.to_owned(),
        };
        let mut characters: Vec<char> = example.chars().collect();
        let start = start.min(characters.len());
        let end = (start + length).min(characters.len());
        let piece: Vec<char> = characters.drain(start..end).collect();
        let to = to.min(characters.len());
        characters.splice(to..to, piece);
        let text: String = characters.into_iter().collect();
        match Campaign::parse("c.toml", &text, Path::new("."), &registry()) {
            Err(problems) => prop_assert!(!problems.render(false).is_empty()),
            Ok(campaign) => {
                let _ = campaign.plan(&PlanContext::default());
            }
        }
    }
}
