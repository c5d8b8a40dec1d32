//! `serve-mock`: an endpoint with an exact schedule, to try clients on.

use anyhow::Context;
use assay_load::calibration::Server;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::load::ServeMock;
use crate::screen::Screen;
use crate::signals::stop_flag;
use crate::workloads::chat::mock;

/// Serves until it is stopped, then says what it did.
pub fn serve_mock(options: &ServeMock, screen: &mut Screen) -> anyhow::Result<Exit> {
    let stop = stop_flag()?;
    let mut server = Server::bind(&options.listen, mock::schedule(&options.settings)?).map_err(|error| {
        Mistake::new(
            format!("cannot listen on {}: {error}", options.listen),
            "choose another address with --listen",
        )
    })?;
    if let Some(path) = &options.sends {
        server = server.writing_sends(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    screen.data(&format!("{}\n", server.url()))?;
    let summary = server.run(&stop).context("the endpoint failed")?;
    screen.say(summary.to_string().trim_end());
    Ok(Exit::Fine)
}
