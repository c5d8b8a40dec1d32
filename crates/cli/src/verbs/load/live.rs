//! How a load is going, on one line of the terminal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_judge::load::Distribution;
use assay_load::Exchange;
use assay_load::run::Live;
use indicatif::ProgressBar;

/// How often the line changes.
const BEAT: Duration = Duration::from_millis(250);

/// Latencies so far.
#[derive(Debug, Default)]
pub(super) struct View {
    latencies: Mutex<Latencies>,
}

#[derive(Debug, Default)]
struct Latencies {
    first_token: Distribution,
    per_token: Distribution,
}

impl View {
    /// Takes a request that has ended.
    pub(super) fn add(&self, exchange: &Exchange) {
        if exchange.warm_up || !exchange.is_success() {
            return;
        }
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = exchange.first_token_at_s {
            latencies.first_token.add(first - exchange.intended_at_s);
        }
        if let Some(time) = super::request(exchange).tpot_s() {
            latencies.per_token.add(time);
        }
    }

    fn line(&self, live: &Live, since: Instant) -> String {
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let (done, failed) = (count(&live.succeeded), count(&live.failed));
        let seconds = since.elapsed().as_secs_f64();
        let phase = if live.began_ns.load(Ordering::Relaxed) < 0 { "warming up, " } else { "" };
        let rate = done as f64 / seconds.max(1e-3);
        let mut line =
            format!("{phase}{seconds:.0} s, {} in flight, {done} done ({rate:.1}/s)", count(&live.in_flight));
        if failed > 0 {
            line += &format!(", {failed} failed");
        }
        let latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, values) in [("first token", &latencies.first_token), ("per token", &latencies.per_token)] {
            if let (Some(half), Some(most)) = (values.quantile(0.5), values.quantile(0.99)) {
                line += &format!(", {name} {:.1} ms (p99 {:.1})", half * 1e3, most * 1e3);
            }
        }
        line
    }
}

/// Does `work`, and shows meanwhile how it is going.
pub(super) fn beside<T: Send>(
    is_shown: bool,
    live: &Live,
    view: &View,
    work: impl FnOnce() -> T + Send,
) -> T {
    if !is_shown {
        return work();
    }
    let (begin, is_over) = (Instant::now(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let painter = scope.spawn(|| {
            let bar = ProgressBar::new_spinner();
            while !is_over.load(Ordering::Relaxed) {
                std::thread::park_timeout(BEAT);
                bar.set_message(view.line(live, begin));
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        painter.thread().unpark();
        result
    })
}
