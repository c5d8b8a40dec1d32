//! Ctrl-C and its kin, as flags and counts that others look at.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::exit::Exit;
use anyhow::Context;
use assay_launch::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

const FAILED: &str = "cannot listen for Ctrl-C";

/// Ctrl-C, TERM and HUP count up; the launcher looks at the count.
pub fn interrupts() -> anyhow::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).context(FAILED)?;
    let heard = interrupt.clone();
    std::thread::Builder::new()
        .spawn(move || signals.forever().for_each(|_| heard.request()))
        .context("the system refused a thread that listens for Ctrl-C")?;
    Ok(interrupt)
}

/// From here on, Ctrl-C, TERM and HUP end the program at once: what is left is only shown.
pub fn end_at_once() -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let always = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, always)
            .context(FAILED)?;
    }
    Ok(())
}

/// A write beyond the limit of file sizes fails like one on a full disk, with an error to report, instead of ending the
/// program without a word. Programs that are started get the signal's usual meaning back, unlike with an ignored signal.
pub fn report_file_size_limit() {
    // Where this is refused the limit ends the program, as it would any other.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// A flag that Ctrl-C and TERM set. A second one ends the program at once, whatever it is waiting for.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))
            .context(FAILED)?;
        signal_hook::flag::register(signal, Arc::clone(&stop)).context(FAILED)?;
    }
    Ok(stop)
}
