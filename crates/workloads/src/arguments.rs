//! Settings as they stand on a command line: `name=value`, read by what the workload's description says.

use assay_model::{SettingKind, Settings, Value, WorkloadDescription};

/// Reads the settings of a workload. Whether values are allowed is checked when it runs.
pub fn settings(description: &WorkloadDescription, assignments: &[(String, String)]) -> Settings {
    let read = |(name, text): &(String, String)| {
        let known = description.settings.iter().find(|setting| setting.name == *name);
        // An unknown name is reported by the workload itself, which knows the nearest one.
        let value = known.map_or_else(|| Value::from(text.as_str()), |setting| value(&setting.kind, text));
        (name.clone(), value)
    };
    assignments.iter().map(read).collect()
}

/// A value by its kind; what does not parse stays a text, and is reported with its name when it is checked.
pub fn value(kind: &SettingKind, text: &str) -> Value {
    let parsed = match kind {
        SettingKind::Integer { .. } => text.parse().ok().map(Value::Integer),
        SettingKind::Number => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float),
        SettingKind::Switch => text.parse().ok().map(Value::Switch),
        // A bare number of seconds, as campaign files may have it; anything else is a text with its unit.
        SettingKind::Duration => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float)
        }
        SettingKind::Text | SettingKind::Choice(_) => None,
    };
    parsed.unwrap_or_else(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_kind_that_the_description_asks_for() {
        let integer = SettingKind::Integer { min: 0, max: 9 };
        assert_eq!(value(&integer, "8"), Value::Integer(8));
        assert_eq!(value(&integer, "eight"), Value::from("eight"));
        assert_eq!(value(&SettingKind::Number, "3e-4"), Value::Float(3e-4));
        assert_eq!(value(&SettingKind::Switch, "true"), Value::Switch(true));
        assert_eq!(value(&SettingKind::Choice(vec!["2.7B".into()]), "2.7B"), Value::from("2.7B"));
    }
}
