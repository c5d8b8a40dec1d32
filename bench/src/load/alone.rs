//! What only this client is asked.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_load::clock::monotonic_ns;
use assay_load::record::StoredLoad;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::Value;

use super::CLIENT_CORE;
use super::client::{Said, load, load_with, run_to_end};
use super::server::{Endpoint, at, pinned};
use crate::figures::MedianAndRange;
use crate::place::Place;

/// What the client exits with if it was the limit itself.
const INVALID: i32 = 6;

/// How far the client's times to first token are from the true ones, in seconds: median and 99th percentile.
#[derive(Debug, Clone, Copy)]
pub struct Errors {
    /// The median.
    pub half: f64,
    /// The 99th percentile.
    pub most: f64,
    /// The share of stamps that had merged.
    pub merged: Option<f64>,
}

/// Measures 64 streams with a token every `gap` milliseconds while other work takes nine tenths of the client's core.
pub fn busy(place: &Place, gap: u32, seconds: u32) -> anyhow::Result<Errors> {
    let gap = format!("{gap}ms");
    let endpoint = Endpoint::start(place, &["--ttft", "200ms", "--itl", &gap, "--tokens", "50", "--spread"])?;
    let directory = place.fresh("busy")?;
    let mut command = pinned(CLIENT_CORE, &place.assay);
    command.current_dir(&directory).args([
        "load",
        &endpoint.url,
        "--model",
        "calibration",
        "--json",
        "--quiet",
    ]);
    command.args(["--streams", "64", "--warm-up", "0", "--duration", &format!("{seconds}s")]);
    // The other work may make the client the limit, which it then says itself; how far it is off is measured anyway.
    let said = beside_other_work(|| run_to_end(&mut command, &[0, INVALID]))?;
    let sends = endpoint.stop()?;
    let truth: HashMap<u64, i64> = sends
        .iter()
        .filter_map(|stream| Some((stream.client?, stream.first_token_ns()? - stream.arrived_ns)))
        .collect();
    let mut errors = Vec::new();
    for exchange in only_load(&directory)?.requests()? {
        let exchange = exchange?;
        if let (Some(first_s), Some(truth)) = (exchange.first_token_at_s, truth.get(&exchange.index)) {
            errors.push((first_s - exchange.sent_at_s - *truth as f64 * 1e-9).abs());
        }
    }
    errors.sort_by(f64::total_cmp);
    let (half, most) = at(&errors, 0.5).zip(at(&errors, 0.99)).context("no request was compared")?;
    Ok(Errors { half, most, merged: said.printed.pointer("/client/merged_share").and_then(Value::as_f64) })
}

/// The load of the only run of the only record in a directory.
fn only_load(directory: &Path) -> anyhow::Result<StoredLoad> {
    let mut run = directory.join("records/load-1/runs");
    // The directories of the cell and of the run.
    for _ in 0..2 {
        run = std::fs::read_dir(&run)?.next().context("the record has no run")??.path();
    }
    StoredLoad::in_run(&run)?.context("the run has no load")
}

/// Does something while another thread takes nine of every ten milliseconds of the client's core.
fn beside_other_work<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| -> anyhow::Result<()> {
            bind(CLIENT_CORE)?;
            while !is_over.load(Ordering::Relaxed) {
                let began = Instant::now();
                while began.elapsed() < Duration::from_millis(9) {
                    std::hint::spin_loop();
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        });
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        other.join().map_err(|_| anyhow::anyhow!("the other work broke down"))??;
        result
    })
}

/// What many streams came to.
#[derive(Debug, Clone, Copy)]
pub struct Many {
    /// Requests per second by those that the schedule allows.
    pub share: Option<f64>,
    /// The client's largest memory in bytes.
    pub peak_bytes: f64,
    /// Requests that did not end well.
    pub failed: u64,
}

/// Streams that send several requests each: the first token after 200 ms, then one every 20 ms, 50 in all.
pub fn many(place: &Place, streams: u32, requests_each: u32) -> anyhow::Result<Many> {
    let endpoint =
        Endpoint::start(place, &["--ttft", "200ms", "--itl", "20ms", "--tokens", "50", "--spread"])?;
    let (streams_text, requests) = (streams.to_string(), (streams * requests_each).to_string());
    let options = ["--streams", &streams_text, "--requests", &requests, "--warm-up", "0"];
    let said = load(place, &endpoint.url, &options)?;
    endpoint.stop()?;
    // With spread phases the first token waits half a gap more on average.
    let ideal = f64::from(streams) / (0.200 + 0.010 + 49.0 * 0.020);
    let of_endpoint = |field: &str| said.printed.pointer(&format!("/endpoints/0/{field}"));
    let count = |field: &str| of_endpoint(field).and_then(Value::as_u64).unwrap_or(0);
    Ok(Many {
        share: of_endpoint("request_throughput").and_then(Value::as_f64).map(|rate| rate / ideal),
        peak_bytes: said.peak_bytes,
        failed: count("requests") - count("succeeded"),
    })
}

/// How late requests of an open loop are sent, in seconds: the 99th percentile of every second, and that of a thread
/// which does nothing but wait for the same moments, in turns. The machine itself stalls now and then, which no
/// client can do anything about; the second number shows how much.
#[derive(Debug)]
pub struct Pace {
    /// This client.
    pub client: Option<MedianAndRange>,
    /// The thread that only waits.
    pub machine: Option<MedianAndRange>,
}

/// Measures the pace.
pub fn pace(place: &Place, rate: u32, seconds: u32) -> anyhow::Result<Pace> {
    let rate_text = rate.to_string();
    let options = ["--rate", &rate_text, "--duration", "1s", "--gaps", "constant"];
    let (mut client, mut machine) = (Vec::new(), Vec::new());
    for _ in 0..seconds {
        let endpoint = Endpoint::start(place, &["--ttft", "1ms", "--itl", "0", "--tokens", "1"])?;
        let said = load(place, &endpoint.url, &options)?;
        endpoint.stop()?;
        client.extend(said.printed.pointer("/client/schedule_lag_p99_s").and_then(Value::as_f64));
        machine.extend(waiting(rate)?);
    }
    Ok(Pace { client: MedianAndRange::of(&client), machine: MedianAndRange::of(&machine) })
}

/// How late a thread on the client's core is that does nothing but look at the clock for a second: the 99th percentile.
fn waiting(rate: u32) -> anyhow::Result<Option<f64>> {
    let waiter = std::thread::spawn(move || -> anyhow::Result<Vec<f64>> {
        bind(CLIENT_CORE)?;
        let began = monotonic_ns();
        let moments = (1..=i64::from(rate)).map(|moment| began + moment * 1_000_000_000 / i64::from(rate));
        let late = moments.map(|moment| {
            while monotonic_ns() < moment {
                std::hint::spin_loop();
            }
            (monotonic_ns() - moment) as f64 * 1e-9
        });
        Ok(late.collect())
    });
    let mut late = waiter.join().map_err(|_| anyhow::anyhow!("the waiting thread broke down"))??;
    late.sort_by(f64::total_cmp);
    Ok(at(&late, 0.99))
}

/// Binds the calling thread to a core.
fn bind(core: usize) -> anyhow::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    Ok(sched_setaffinity(None, &cores)?)
}

/// From the start of the program to the arrival of its first request, in seconds.
pub fn starts(place: &Place, rounds: usize) -> anyhow::Result<Option<MedianAndRange>> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let endpoint = Endpoint::start(place, &["--tokens", "1"])?;
        let began = monotonic_ns();
        load(place, &endpoint.url, &["--requests", "1", "--warm-up", "0"])?;
        let first = endpoint.stop()?.iter().map(|stream| stream.arrived_ns).min();
        times.extend(first.map(|first| (first - began) as f64 * 1e-9));
    }
    Ok(MedianAndRange::of(&times))
}

/// Requests of one token each, on 64 streams: what that takes. Nothing waits in this endpoint, so the client may be the limit,
/// which its memory does not depend on.
pub fn requests(place: &Place, requests: u32) -> anyhow::Result<Said> {
    let endpoint = Endpoint::start(place, &["--instant", "--tokens", "1"])?;
    let requests = requests.to_string();
    let options = ["--streams", "64", "--requests", &requests];
    let said = load_with(place, &endpoint.url, &options, &[0, INVALID])?;
    endpoint.stop()?;
    Ok(said)
}
