//! Which class, and so which color, a phase or a line has. The colors are in `figure.css`; they stay distinct for
//! people with any of the common kinds of color blindness, and nothing is shown by color alone.

use assay_model::document::PHASES;

/// Lines that have a color of their own.
const LINES: usize = 7;

/// The class of a phase.
pub fn phase(name: &str) -> String {
    if PHASES.contains(&name) {
        format!("ph ph-{}", name.replace('_', "-"))
    } else {
        "ph ph-other".to_owned()
    }
}

/// Whether the text on a phase is light.
pub fn light_text(name: &str) -> bool {
    matches!(name, "train" | "program" | "image_build" | "compile")
}

/// The class of the line with this number. From the eighth on, colors come again with another dash.
pub fn line(index: usize) -> String {
    let dash = index / LINES % 3;
    format!("ln-{} dash-{dash}", index % LINES)
}
