//! `load --find-capacity`: the highest rate at which requests meet their bounds.

use assay_judge::load::{Capacity, Level, Probe, Search, Validity};
use assay_load::run::Ended;
use assay_report::number::percent;
use assay_report::{Cell, Column, Table, Tone};
use serde_json::{Value, json};

use super::{Recorder, Results, Setup, bounds, exit, export, show};
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::load::Load;
use crate::screen::Screen;
use crate::signals::stop_flag;
use crate::verbs::JSON_SCHEMA;

/// How long requests are sent at each rate, unless the options say otherwise, in seconds.
const SECONDS: f64 = 10.0;

/// Looks for the capacity and prints it with every probe.
pub(super) fn find(options: &Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut search = search(options)?;
    let mut setup = Setup::new(options)?;
    let (stop, mut recorder) = (stop_flag()?, Recorder::new(&options.results.output));
    let is_quiet = options.results.quiet;
    let mut ended = Ended::Complete;
    while let Some(rate) = search.next_rate() {
        setup.set_level(&options.arrivals, Level::Rate(rate))?;
        let seconds = options.arrivals.duration.unwrap_or(SECONDS);
        setup.load.requests = Some(((rate * seconds).ceil() as u64).max(search.requests_needed()));
        setup.load.duration = None;
        ended = recorder.load(&setup, &stop, screen.is_watched() && !is_quiet)?.ended;
        if ended != Ended::Complete {
            break;
        }
        let parts = search.probes().len();
        let results = Results::read_after(&options.results.output, bounds(&options.results), parts)?;
        let Some(probe) = results.first().and_then(probe) else { break };
        search.add(probe);
        if !is_quiet {
            screen.say(&format!("{rate:.2} requests/s: {}", search.standing(rate).name()));
        }
    }
    export::write_out(&options.results.output, &options.results)?;
    print(&search, options, screen)?;
    show::say_where(&options.results, &options.results.output, None, screen);
    Ok(exit(ended, false))
}

/// The capacity that a record of an earlier search tells.
pub(super) fn again(options: &Load, results: &[Results], screen: &mut Screen) -> anyhow::Result<()> {
    let mut search = search(options)?;
    results.iter().filter_map(probe).for_each(|probe| search.add(probe));
    print(&search, options, screen)
}

/// The search that the options ask for.
fn search(options: &Load) -> anyhow::Result<Search> {
    let (wanted, arrivals) = (&options.capacity, &options.arrivals);
    let mistake = |text: &str, hint: &str| Err(Mistake::new(text, hint).into());
    if bounds(&options.results).is_empty() {
        return mistake(
            "a capacity is looked for and no bound is given",
            "say what a good request is: --slo-first-token, --slo-per-token or --slo-end-to-end, in milliseconds",
        );
    }
    if options.urls.len() > 1 || arrivals.rate.len() > 1 {
        return mistake(
            "a capacity is that of one endpoint, looked for from one rate",
            "give one URL and one --rate",
        );
    }
    let is_share = |share: f64| share > 0.0 && share < 1.0;
    if !is_share(wanted.slo_share) || !is_share(wanted.precision) {
        return mistake(
            "--slo-share and --precision are shares between 0 and 1",
            "for example --slo-share 0.99",
        );
    }
    let begin = arrivals.rate.first().copied().unwrap_or(1.0);
    if !(begin > 0.0 && wanted.most_rate > 0.0 && begin.is_finite() && wanted.most_rate.is_finite()) {
        return mistake("--rate and --most-rate must be above 0", "for example --rate 1 --most-rate 1000");
    }
    Ok(Search::new(begin, wanted.most_rate, wanted.slo_share, wanted.precision))
}

/// What a load says about its rate.
fn probe(results: &Results) -> Option<Probe> {
    let endpoint = results.endpoints.first()?;
    Some(Probe { rate: results.rate?, good: endpoint.summary.good, validity: endpoint.verdict.validity })
}

fn print(search: &Search, options: &Load, screen: &mut Screen) -> anyhow::Result<()> {
    if options.results.json {
        return screen.json(&as_json(search));
    }
    let mut table = table(search);
    table.notes.push(answer(search, options.capacity.slo_share));
    if search.is_limited_by_client() {
        let note = "the client could not keep up there: the endpoint's capacity may be higher";
        let mark = table.footnote(note, "use more threads with --threads, or another machine as the client");
        if let Some(last) = table.notes.last_mut() {
            *last += &format!(" {mark}");
        }
    }
    Ok(screen.table(&table)?)
}

fn answer(search: &Search, share: f64) -> String {
    let bound = format!("{} of requests meet every bound", percent(share));
    match search.capacity() {
        Capacity::Between { low, high } => {
            format!(
                "capacity: {low:.2} requests/s ({low:.2} … {high:.2}); at the first, {bound}, at the second not"
            )
        }
        Capacity::AtLeast(rate) => format!("capacity: not reached; {bound} at {rate:.2} requests/s too"),
        Capacity::None { below } => format!("capacity: none; not even at {below:.4} requests/s {bound}"),
        Capacity::Unknown if search.is_limited_by_client() => {
            "capacity: unknown, the client spoilt every rate that was tried".to_owned()
        }
        Capacity::Unknown => "capacity: unknown, nothing was tried to its end".to_owned(),
    }
}

fn table(search: &Search) -> Table {
    let numbers = ["requests/s", "requests", "good"].map(Column::right);
    let words = ["interval", "bounds", "result"].map(Column::left);
    let mut table = Table { columns: numbers.into_iter().chain(words).collect(), ..Table::default() };
    let mut probes = search.probes().to_vec();
    probes.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    for probe in probes {
        let share = probe.good.value().map_or("–".to_owned(), percent);
        let interval = probe.good.interval();
        let interval = interval.map(|(low, high)| format!("{} … {}", percent(low), percent(high)));
        table.rows.push(vec![
            Cell::new(format!("{:.2}", probe.rate)),
            Cell::new(probe.good.all.to_string()),
            Cell::new(share),
            Cell::new(interval.unwrap_or_default()),
            Cell::new(search.standing(probe.rate).name()),
            Cell::toned(probe.validity.name(), tone(probe.validity)),
        ]);
    }
    table
}

fn tone(validity: Validity) -> Tone {
    match validity {
        Validity::Valid => Tone::Good,
        Validity::Suspect => Tone::Doubt,
        Validity::Invalid => Tone::Bad,
    }
}

fn as_json(search: &Search) -> Value {
    let (found, low, high) = match search.capacity() {
        Capacity::Between { low, high } => ("found", Some(low), Some(high)),
        Capacity::AtLeast(low) => ("not_reached", Some(low), None),
        Capacity::None { below } => ("none", None, Some(below)),
        Capacity::Unknown => ("unknown", None, None),
    };
    let probes = search.probes().iter().map(|probe| {
        json!({
            "rate": probe.rate,
            "requests": probe.good.all,
            "good": probe.good.of,
            "interval": probe.good.interval(),
            "bounds": search.standing(probe.rate).name(),
            "validity": probe.validity.name(),
        })
    });
    json!({
        "schema": JSON_SCHEMA,
        "capacity": { "result": found, "low": low, "high": high, "limited_by_client": search.is_limited_by_client() },
        "probes": probes.collect::<Vec<_>>(),
    })
}
