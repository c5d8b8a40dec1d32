//! `sample`: generate a sample log or write-up.

use std::io::{BufWriter, Write};

use assay_samples::SampleError;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Sample;
use crate::output::create;
use crate::screen::Screen;

/// Prints one generated sample, or lists what there is.
pub fn sample(options: &Sample, screen: &mut Screen) -> anyhow::Result<Exit> {
    let Some(kind) = &options.kind else {
        return list(screen);
    };
    let settings = options.set.iter().cloned().collect();
    let sink: Box<dyn Write> = match &options.output {
        Some(file) => Box::new(create(file)?),
        None => Box::new(std::io::stdout().lock()),
    };
    let mut out = BufWriter::with_capacity(1 << 20, sink);
    assay_samples::write(kind, &settings, options.seed, options.size, &mut out).map_err(mistake)?;
    out.flush()?;
    if let Some(file) = &options.output {
        screen.say(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Fine)
}

fn mistake(error: SampleError) -> anyhow::Error {
    match &error {
        SampleError::Write { .. } => error.into(),
        _ => {
            let hint =
                error.hint().unwrap_or_else(|| "`assay sample` lists all kinds and their options".to_owned());
            Mistake::new(error.to_string(), hint).into()
        }
    }
}

fn list(screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut text = String::new();
    for kind in assay_samples::KINDS {
        text.push_str(&format!("{:<16} {}\n", kind.name, kind.summary));
        for option in kind.options {
            text.push_str(&format!("    --set {}={:<12} {}\n", option.name, option.default, option.summary));
        }
    }
    screen.data(&text)?;
    Ok(Exit::Fine)
}
