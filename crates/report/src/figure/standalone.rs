//! Figures as files of their own. Browsers know variables in style sheets; converters to PDF and drawing programs do not,
//! so here every color is written out.

use super::STYLE;

/// A figure as a file of its own, with its style sheet.
pub fn alone(svg: &str) -> String {
    let rest = svg.strip_prefix("<svg ").unwrap_or_default();
    let (attributes, inside) = rest.split_once('>').unwrap_or_default();
    let style = plain_style();
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {attributes}><style>{style}</style>{inside}")
}

/// The style sheet of figures without variables: all rules with the colors of light pages, then those with colors once more
/// for dark ones.
fn plain_style() -> String {
    let (light, rest) = STYLE.split_once("@media").unwrap_or((STYLE, ""));
    let (dark, rules) = rest.split_once("\n}\n").unwrap_or(("", rest));
    // A file of its own has no page behind it, so it brings the surface along.
    let rules = format!("{rules}svg {{ background: var(--surface); }}\n");
    let colored: String = rules.split_inclusive('}').filter(|rule| rule.contains("var(--")).collect();
    format!(
        "{}@media (prefers-color-scheme: dark) {{\n{}\n}}\n",
        written_out(&rules, light),
        written_out(colored.trim_start(), dark)
    )
}

/// A text with the values of its variables, which a block of the style sheet sets.
fn written_out(text: &str, block: &str) -> String {
    let values: Vec<(&str, &str)> = block
        .split(['{', ';', '}'])
        .filter_map(|piece| piece.trim().split_once(": "))
        .filter(|(name, _)| name.starts_with("--"))
        .collect();
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split("var(");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, after) = piece.split_once(')').unwrap_or((piece, ""));
        let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        out.push_str(value.unwrap_or("inherit"));
        out.push_str(after);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_color_is_written_out() {
        let style = plain_style();
        assert!(!style.contains("var(") && !style.contains("inherit"), "{style}");
        assert!(
            style.contains(".ph-queue { fill: #e3bd4f; }") && style.contains(".ph-queue { fill: #d9ae3c; }")
        );
        assert_eq!(style.matches('{').count(), style.matches('}').count());
        let file = alone("<svg class=\"figure\"><title>a</title></svg>");
        assert!(
            file.starts_with("<svg xmlns=") && file.ends_with("</style><title>a</title></svg>"),
            "{file}"
        );
    }
}
