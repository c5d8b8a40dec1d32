//! Settings that the code of a notebook declares: assignments, keyword arguments and defaults of `argparse`.

use assay_model::Value;

use crate::writeup::setting_name;

/// Lines of code that are looked at in one cell.
const MOST_LINES: usize = 5_000;
const LONGEST_LINE: usize = 1_000;

/// The settings that lines of code declare: line, name, value. Names that no setting is known by are passed over,
/// because most variables of a program are not settings.
pub(super) fn settings<'a>(lines: impl Iterator<Item = (u64, &'a str)>) -> Vec<(u64, String, Value)> {
    let mut found = Vec::new();
    for (number, line) in lines.take(MOST_LINES) {
        let line = line.split(" #").next().unwrap_or_default();
        if line.len() > LONGEST_LINE || line.trim_start().starts_with('#') || !line.contains(['=', ':', '('])
        {
            continue;
        }
        if let Some((name, value)) = argparse_default(line) {
            found.push((number, name, value));
            continue;
        }
        found.extend(assignments(line).into_iter().map(|(name, value)| (number, name, value)));
    }
    found
}

/// `parser.add_argument("--batch-size", type=int, default=64)`.
fn argparse_default(line: &str) -> Option<(String, Value)> {
    let (_, arguments) = line.split_once("add_argument(")?;
    let flag = arguments.split(['"', '\'']).find(|text| text.starts_with("--"))?;
    let (_, default) = arguments.split_once("default")?;
    let default = default.trim_start().strip_prefix('=')?;
    let name = setting(flag.trim_start_matches('-'))?;
    Some((name, literal(default)?))
}

/// `epochs = 10`, `fit(x, batch_size=64, epochs=5)`, `"lr": 1e-3`.
fn assignments(line: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (at, sign) in line.match_indices(['=', ':']) {
        let (before, behind) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
        // Comparisons and updates assign nothing.
        if sign == "="
            && (before.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '%']) || behind.starts_with('='))
        {
            continue;
        }
        let before = before.trim_end();
        let quoted = before.ends_with(['"', '\'']);
        if sign == ":" && !quoted {
            continue;
        }
        let before = before.trim_end_matches(['"', '\'']);
        let start = before
            .rfind(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '_' | '-')))
            .map_or(0, |at| at + 1);
        let name = before.get(start..).unwrap_or_default();
        if let Some((name, value)) = setting(name).zip(literal(behind)) {
            found.push((name, value));
        }
    }
    found
}

fn setting(name: &str) -> Option<String> {
    let is_name = name.len() > 1 && name.starts_with(|first: char| first.is_ascii_alphabetic());
    setting_name(&name.replace(['_', '-'], " ")).filter(|_| is_name).map(str::to_owned)
}

/// A number, a text in quotes, `True` or `False` at the beginning of a text, with nothing computed behind it.
fn literal(text: &str) -> Option<Value> {
    let text = text.trim_start();
    if let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let inside = text.get(1..)?.split(quote).next()?;
        return (!inside.is_empty() && inside.len() <= 200).then(|| Value::from(inside));
    }
    let end = text.find([',', ')', '}', ']', ';']).unwrap_or(text.len());
    let token = text.get(..end)?.trim();
    match token {
        "True" => return Some(Value::Switch(true)),
        "False" => return Some(Value::Switch(false)),
        _ => {}
    }
    let digits = token.replace('_', "");
    if !digits.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '-')) {
        return None;
    }
    let number: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    Some(crate::facts::setting_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Vec<(String, String)> {
        let found = settings(std::iter::once((1, line))).into_iter();
        found.map(|(_, name, value)| (name, value.to_string())).collect()
    }

    #[test]
    fn assignments_arguments_and_defaults() {
        assert_eq!(read("batch_size = 64  # per GPU"), [("batch_size".into(), "64".into())]);
        assert_eq!(
            read("model.fit(x, y, batch_size=32, epochs=5)"),
            [("batch_size".into(), "32".into()), ("epochs".into(), "5".into())]
        );
        assert_eq!(
            read("parser.add_argument('--batch-size', type=int, default=128, help='b')"),
            [("batch_size".into(), "128".into())]
        );
        assert_eq!(read("config = {\"epochs\": 1_0, 'x': 3}"), [("epochs".into(), "10".into())]);
        assert_eq!(read("lr = 1e-3"), [("learning_rate".into(), "0.001".into())]);
    }

    #[test]
    fn what_declares_nothing() {
        for line in [
            "if epochs == 3:",
            "epochs += 1",
            "epochs = n * 2",
            "# epochs = 4",
            "for epoch in range(10):",
            "x = 3",
        ] {
            assert_eq!(read(line), [], "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in ".*", odd in "[a-z_='\":(), 0-9.-]{0,60}") {
            let _ = (read(&line), read(&odd));
        }
    }
}
