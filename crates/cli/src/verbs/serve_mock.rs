//! `serve-mock`: an endpoint with an exact schedule, to try clients on.

use std::time::Duration;

use anyhow::Context;
use assay_load::calibration::{Failure, FailureKind, Schedule, Server, UsageReport, When};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::load::ServeMock;
use crate::screen::Screen;
use crate::signals::stop_flag;

/// Serves until it is stopped, then tells what it did.
pub fn serve_mock(options: &ServeMock, screen: &mut Screen) -> anyhow::Result<Exit> {
    let stop = stop_flag()?;
    let mut server = Server::bind(&options.listen, schedule(options)?).map_err(|error| {
        Mistake::new(
            format!("cannot listen at {}: {error}", options.listen),
            "choose another address with --listen",
        )
    })?;
    if let Some(path) = &options.sends {
        server = server.writing_sends(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    screen.data(&format!("{}\n", server.url()))?;
    let summary = server.run(&stop).context("the endpoint broke down")?;
    screen.say(summary.to_string().trim_end());
    Ok(Exit::Fine)
}

/// The schedule that the options describe.
pub fn schedule(options: &ServeMock) -> Result<Schedule, Mistake> {
    let failure = |share: f64, kind| Failure { when: When::Share(share), kind };
    let half = options.tokens / 2;
    let failures = [
        failure(options.busy, FailureKind::Status { status: 429, retry_after: Some(1) }),
        failure(options.cut, FailureKind::Cut { after: half }),
        failure(options.error, FailureKind::ErrorEvent { after: half }),
    ];
    let base = if options.instant { Schedule::instant() } else { Schedule::default() };
    let (first_token, gap) = match options.instant {
        true => (Duration::ZERO, Duration::ZERO),
        false => (milliseconds(options.first_token)?, milliseconds(options.gap)?),
    };
    Ok(Schedule {
        first_token,
        gap,
        first_token_jitter: milliseconds(options.jitter)?,
        gap_jitter: milliseconds(options.jitter)?,
        tokens: options.tokens,
        tokens_per_chunk: options.tokens_per_chunk,
        role_chunk: !options.no_role,
        reasoning_tokens: options.reasoning,
        usage: if options.no_usage { UsageReport::Never } else { UsageReport::WhenAsked },
        pings: options.pings.map(milliseconds).transpose()?,
        crlf: options.crlf,
        split_events: options.split,
        spread_phases: options.spread,
        slots: options.slots,
        failures: failures.into_iter().filter(|failure| failure.when != When::Share(0.0)).collect(),
        seed: options.seed,
        ..base
    })
}

fn milliseconds(number: f64) -> Result<Duration, Mistake> {
    let wrong = || {
        Mistake::new(format!("{number} is no number of milliseconds"), "give a number that is not negative")
    };
    Duration::try_from_secs_f64(number * 1e-3).map_err(|_| wrong())
}
