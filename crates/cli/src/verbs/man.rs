//! `man`: the manual page.

use clap::CommandFactory;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::{Arguments, Man};
use crate::screen::Screen;

/// Prints the manual page of the program or of one verb.
pub fn man(options: &Man, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut command = Arguments::command();
    command.build();
    let command = match &options.verb {
        None => command,
        Some(verb) => {
            let found = command.get_subcommands().find(|known| known.get_name() == verb).cloned();
            found.ok_or_else(|| Mistake::new(format!("no verb `{verb}`"), "`assay help` lists them"))?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).source(concat!("assay ", env!("CARGO_PKG_VERSION"))).render(&mut text)?;
    screen.data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}
