//! What a piece of LaTeX reads like.

use super::source::{command_name, group};

/// Commands whose arguments are not text.
const SILENT: [&str; 30] = [
    "label",
    "ref",
    "cite",
    "citep",
    "citet",
    "eqref",
    "cref",
    "Cref",
    "autoref",
    "vspace",
    "hspace",
    "color",
    "rowcolor",
    "cellcolor",
    "columncolor",
    "url",
    "includegraphics",
    "setlength",
    "cmidrule",
    "cline",
    "addlinespace",
    "phantom",
    "rule",
    "pagestyle",
    "usepackage",
    "documentclass",
    "input",
    "arraystretch",
    "fontsize",
    "textcolor",
];

/// Commands that stand for a sign or a word.
fn sign(name: &str) -> Option<&'static str> {
    Some(match name {
        "times" | "cdot" => "×",
        "pm" => "±",
        "approx" | "sim" | "simeq" => "~",
        "leq" | "le" => "≤",
        "geq" | "ge" => "≥",
        "mu" | "micro" => "µ",
        "uparrow" => "↑",
        "downarrow" => "↓",
        "rightarrow" | "to" => "→",
        "ldots" | "dots" => "…",
        "textpm" => "±",
        "texttimes" => "×",
        "textmu" => "µ",
        "textdegree" => "°",
        "%" => "%",
        "&" => "&",
        "#" => "#",
        "$" => "$",
        "_" => "_",
        "{" => "{",
        "}" => "}",
        "," | ";" | ":" | " " | "quad" | "qquad" | "\\" | "newline" | "~" | "enspace" => " ",
        "LaTeX" => "LaTeX",
        "TeX" => "TeX",
        _ => return None,
    })
}

/// Units of siunitx.
fn unit(name: &str) -> Option<&'static str> {
    Some(match name {
        "milli" => "m",
        "micro" => "µ",
        "nano" => "n",
        "kilo" => "k",
        "mega" => "M",
        "giga" => "G",
        "tera" => "T",
        "peta" => "P",
        "kibi" => "Ki",
        "mebi" => "Mi",
        "gibi" => "Gi",
        "second" => "s",
        "minute" => "min",
        "hour" => "h",
        "byte" => "B",
        "bit" => "bit",
        "percent" => "%",
        "per" => "/",
        "watt" => "W",
        "joule" => "J",
        "hertz" => "Hz",
        "ms" => "ms",
        "us" => "µs",
        "ns" => "ns",
        "s" => "s",
        "GB" => "GB",
        "MB" => "MB",
        "GHz" => "GHz",
        "kWh" => "kWh",
        "flop" | "FLOP" => "FLOP",
        _ => return None,
    })
}

/// The text without commands, braces and dollar signs, with single spaces.
pub(super) fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    write(text, &mut kept, 0);
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How deep commands may stand in the arguments of commands.
const DEEPEST: usize = 20;

fn write(text: &str, kept: &mut String, depth: usize) {
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let behind = at + character.len_utf8();
        match character {
            '\\' => at = command(text, at, kept, depth),
            // Braces around a comma keep LaTeX from spacing it; exponents keep theirs.
            '{' if kept.ends_with('^') => {
                let (inner, end) = group(text, at).unwrap_or(("", behind));
                kept.push('{');
                if depth < DEEPEST {
                    write(inner, kept, depth + 1);
                }
                kept.push('}');
                at = end;
            }
            '{' | '}' | '$' => at = behind,
            '~' => {
                kept.push(' ');
                at = behind;
            }
            '-' if text.get(at..).is_some_and(|rest| rest.starts_with("--")) => {
                let dashes =
                    text.get(at..).unwrap_or_default().bytes().take_while(|byte| *byte == b'-').count();
                kept.push(if dashes == 2 { '–' } else { '—' });
                at += dashes;
            }
            '`' | '\'' if text.get(behind..).is_some_and(|rest| rest.starts_with(character)) => {
                kept.push('"');
                at = behind + 1;
            }
            _ => {
                kept.push(character);
                at = behind;
            }
        }
    }
}

/// Writes what a command reads like; gives the place behind it.
fn command(text: &str, at: usize, kept: &mut String, depth: usize) -> usize {
    let name = command_name(text, at);
    let mut behind = at + 1 + name.len().max(usize::from(at + 1 < text.len() && name.is_empty()));
    if text.as_bytes().get(behind) == Some(&b'*') && !name.is_empty() {
        behind += 1;
    }
    if let Some(sign) = sign(name) {
        kept.push_str(sign);
        return behind;
    }
    let behind = super::source::after_options(text, behind);
    match name {
        "num" | "numrange" | "ang" => one(text, behind, kept, depth, number),
        "SI" | "qty" | "SIrange" => {
            let end = one(text, behind, kept, depth, number);
            kept.push(' ');
            one(text, super::source::after_options(text, end), kept, depth, units)
        }
        "si" | "unit" => one(text, behind, kept, depth, units),
        "href" | "texorpdfstring" | "multicolumn" | "multirow" | "footnotetext" | "textcolor"
        | "colorbox" => last_group(text, behind, kept, depth),
        "footnote" => match group(text, behind) {
            Some((inner, end)) => {
                kept.push_str(" (");
                nested(inner, kept, depth);
                kept.push(')');
                end
            }
            None => behind,
        },
        _ if SILENT.contains(&name) => super::source::after_arguments(text, behind),
        _ => behind,
    }
}

fn nested(inner: &str, kept: &mut String, depth: usize) {
    if depth < DEEPEST {
        write(inner, kept, depth + 1);
    }
}

fn one(text: &str, at: usize, kept: &mut String, depth: usize, written: fn(&str) -> String) -> usize {
    match group(text, at) {
        Some((inner, end)) => {
            nested(&written(inner), kept, depth);
            end
        }
        None => at,
    }
}

/// Writes the last of the groups behind a place.
fn last_group(text: &str, at: usize, kept: &mut String, depth: usize) -> usize {
    let mut end = at;
    let mut last = "";
    loop {
        end = super::source::after_options(text, end);
        if let Some(rest) = text.get(end..).filter(|rest| rest.starts_with('*')) {
            end += rest.len() - rest.trim_start_matches('*').len();
        }
        let Some((inner, behind)) = group(text, end).filter(|_| text.as_bytes().get(end) == Some(&b'{'))
        else {
            break;
        };
        (last, end) = (inner, behind);
    }
    nested(last, kept, depth);
    end
}

/// A number of siunitx: `1.2(3)` is `1.2 ± 0.3`, `1.2 +- 0.3` and `1.2e3` are as they look.
fn number(text: &str) -> String {
    let text = text.trim().replace("+-", " ± ").replace("\\pm", " ± ");
    let Some((value, rest)) = text.split_once('(') else { return text };
    let Some((digits, tail)) = rest.split_once(')') else { return text };
    let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.trim().len());
    let spread = match digits.parse::<u64>() {
        Ok(last_digits) => format!("{:.decimals$}", last_digits as f64 / 10_f64.powi(decimals as i32)),
        Err(_) => digits.to_owned(),
    };
    format!("{value} ± {spread}{tail}")
}

/// Units of siunitx, as commands or as text.
fn units(text: &str) -> String {
    let mut kept = String::new();
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        match character {
            '\\' => {
                let name = command_name(text, at);
                kept.push_str(unit(name).unwrap_or(name));
                at += 1 + name.len();
            }
            '.' | '~' => {
                kept.push(' ');
                at += 1;
            }
            ' ' => at += 1,
            _ => {
                kept.push(character);
                at += character.len_utf8();
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_read_like_their_print() {
        for (latex, text) in [
            (r"\textbf{3.5}$\times$ faster", "3.5× faster"),
            (r"$97.1 \pm 0.2$\,\%", "97.1 ± 0.2 %"),
            (r"\SI{1.2}{\milli\second}", "1.2 ms"),
            (r"\qty[round-mode=places]{300}{GB\per\second}", "300 GB/s"),
            (r"\num{12345}", "12345"),
            (r"\num{1.23(4)}", "1.23 ± 0.04"),
            (r"12{,}345 tokens~/~s", "12,345 tokens / s"),
            (r"see \ref{tab:x} and \href{http://a}{here}", "see and here"),
            (r"{\bf x} -- y\footnote{one run}", "x – y (one run)"),
            (r"$1.2 \times 10^{3}$", "1.2 × 10^{3}"),
            (r"a\\b", "a b"),
            (r"50\% of \emph{all}", "50% of all"),
        ] {
            assert_eq!(plain(latex), text, "{latex}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".*", odd in r"[\\{}\[\]$%&~a-c1.()*^ é]{0,60}") {
            let _ = (plain(&text), plain(&odd));
        }
    }
}
