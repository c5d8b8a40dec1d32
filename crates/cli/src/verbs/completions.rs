//! `completions`: what a shell needs to complete our command line.

use clap::CommandFactory;

use crate::exit::Exit;
use crate::options::{Arguments, Completions};
use crate::screen::Screen;

/// Prints completions for a shell.
pub fn completions(options: &Completions, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut command = Arguments::command();
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut command, "assay", &mut text);
    screen.data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}
