//! `page`: a read-only web view over records, on this machine unless a token is asked for.

use std::net::SocketAddr;

use anyhow::Context;
use assay_page::{AccessToken, PageError, Server, Site};

use crate::exit::Exit;
use crate::failure::{self, Mistake};
use crate::options::Page;
use crate::screen::Screen;
use crate::signals::stop_flag;
use crate::workloads::chat;
use crate::{sources, write_up};

/// Serves the page until it is stopped.
pub fn page(options: &Page, screen: &mut Screen) -> anyhow::Result<Exit> {
    let address: SocketAddr = options.listen.parse().map_err(|_| {
        let text = format!("invalid address `{}`", options.listen);
        Mistake::new(text, "write an IP address and a port, such as 127.0.0.1:8080 or [::1]:0")
    })?;
    let token = token(address, options.token)?;
    if !options.root.is_dir() {
        let text = format!("no directory {}", options.root.display());
        return Err(Mistake::new(text, "name the directory that has the records").into());
    }
    if let Some(missing) = options.write_ups.iter().find(|file| !file.exists()) {
        let text = format!("no file {}", missing.display());
        return Err(Mistake::new(text, "write-ups are audited on the page").into());
    }
    let stop = stop_flag()?;
    let site = Site::new(
        options.root.clone(),
        options.write_ups.clone(),
        token.clone(),
        Box::new(write_up::defaults),
        Box::new(|path| {
            // Nobody is watching, so nothing is said on the way.
            let audited = sources::audited(&[path.to_owned()], &mut Screen::silent());
            audited.map_err(|error| failure::text(&error))
        }),
        Box::new(chat::running::table),
    );
    let server = Server::bind(address, site).map_err(|error| match error {
        PageError::Listen { .. } => {
            anyhow::Error::from(Mistake::new(error.to_string(), "choose another address with --listen"))
        }
        other => other.into(),
    })?;
    let bound = server.address().context("the address is unknown")?;
    let query = token.map(|token| format!("?token={}", token.text())).unwrap_or_default();
    screen.data(&format!("http://{bound}/{query}\n"))?;
    screen.say("serving records, read-only; Ctrl-C stops it");
    server.run(&stop)?;
    Ok(Exit::Fine)
}

/// A token where other machines can reach the page, or where one was asked for.
fn token(address: SocketAddr, wanted: bool) -> anyhow::Result<Option<AccessToken>> {
    if !wanted && !address.ip().is_loopback() {
        let text = format!("{address} can be reached from other machines");
        let hint = "add --token: only who has the printed address can read; or listen on 127.0.0.1";
        return Err(Mistake::new(text, hint).into());
    }
    wanted.then(AccessToken::random).transpose().context("cannot make a token")
}
