//! Whether a piece of HTML or SVG is well formed: every tag closed in order, every attribute quoted, no bare `<`.

/// What is wrong with it, if anything is.
pub fn well_formed(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.strip_prefix("<!DOCTYPE html>").unwrap_or(text);
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').ok_or("a tag that does not end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let alone = tag.ends_with('/');
        let tag = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(format!("<{tag}> is no tag"));
        }
        attributes_well_formed(attributes)?;
        if !alone {
            open.push(name);
        }
        // What stands in a style sheet is not a mark-up.
        if name == "style" {
            rest = &rest[rest.find("</style>").ok_or("a style sheet that does not end")?..];
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} stay open")) }
}

fn attributes_well_formed(mut text: &str) -> Result<(), String> {
    while !text.is_empty() {
        let (name, rest) = text.split_once("=\"").ok_or(format!("attribute without value: {text}"))?;
        if !name.trim().chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == ':')
        {
            return Err(format!("attribute {name}"));
        }
        let (value, rest) = rest.split_once('"').ok_or(format!("open value of {name}"))?;
        if value.contains('<') {
            return Err(format!("bare < in {name}"));
        }
        text = rest.trim_start();
    }
    Ok(())
}
