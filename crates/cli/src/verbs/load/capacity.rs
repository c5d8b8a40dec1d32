//! `load --find-capacity`: the highest rate at which requests meet their SLOs. Each probe is a run of the record, with
//! arrivals and prompts of its own.

use assay_judge::load::{Capacity, CapacitySearch, Probe, ProbePlan, Validity};
use assay_launch::LaunchOutcome;
use assay_model::Value;
use assay_report::number::percent;
use assay_report::{Cell, Column, Table, Tone};
use assay_store::Record;
use serde_json::{Value as Json, json};

use super::{campaign, exit, how, report_options};
use crate::execute::{assemble_built, execute};
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::RunFlags;
use crate::options::load::{Load, LoadFlags};
use crate::records;
use crate::screen::{JSON_SCHEMA, Screen};
use crate::workloads::chat::report::{self, ReportOptions};
use crate::workloads::chat::results::LoadResults;
use crate::workloads::chat::settings::ChatSettings;

/// A full probe is this many times as long as the longest SLO: a rate that is 5 % too high makes the queue grow by the SLO.
const SLO_TIMES: f64 = 20.0;
/// The shortest and the longest full probe, in seconds, unless the duration is given.
const PROBE_SECONDS: (f64, f64) = (2.0, 120.0);
/// The rate to begin with, unless one is given.
const BEGIN: f64 = 4.0;

/// A probe that was made, with the latency that its SLO is about.
struct Made {
    probe: Probe,
    /// The interval of its share of good requests, where the probe is long enough for one.
    good: Option<(f64, f64)>,
    p95: Option<P95>,
}

/// The name of a latency, its 95th percentile, and the interval of that.
type P95 = (&'static str, f64, Option<(f64, f64)>);

/// Looks for the capacity and prints it with every probe.
pub(super) fn find(options: &Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut search = search(options)?;
    let record = campaign::record(&options.how)?;
    let mut made: Vec<Made> = Vec::new();
    let mut last: Option<(Record, LaunchOutcome)> = None;
    while let Some(plan) = search.next_probe() {
        let is_same = |probe: &&Probe| probe.rate == plan.rate && probe.is_short == plan.is_short;
        let tries = search.probes().iter().filter(is_same).count();
        let repeats = u32::try_from(tries + 1).unwrap_or(u32::MAX);
        let assembled = assemble_built(probe_campaign(options, &plan, &[plan.rate], repeats)?, &record)?;
        let (record, outcome) = execute(&assembled, &quietly(&options.how), screen)?;
        let is_over = outcome.ending != assay_launch::Ending::Complete;
        let loads = report::of_record(&record, &record.index()?)?;
        last = Some((record, outcome));
        // The newest load of this rate is the one that was just made.
        let newest = loads.iter().rev().find(|load| load.results.rate == Some(plan.rate));
        let Some(load) = newest.filter(|_| !is_over) else { break };
        let Some(probe) = probe(&load.results, plan.is_short) else { break };
        search.add(probe);
        let good = load.results.endpoints.first().and_then(|endpoint| endpoint.summary.good_interval());
        made.push(Made { probe, good, p95: p95(&load.results) });
        if !options.how.quiet && !options.how.json {
            made.last().into_iter().for_each(|made| screen.say(&progress(&search, made, plan.seconds)));
        }
        if load.results.ended.as_deref() != Some("complete") {
            // A server that is gone would only be gone at other rates too.
            break;
        }
    }
    let Some((record, outcome)) = last else { anyhow::bail!("no rate was tried") };
    let record = with_all_rates(options, &search, &record, screen)?;
    let loads = report::of_record(&record, &record.index()?)?;
    let wanted = ReportOptions { json: false, ..report_options(options) };
    report::export(&loads, &wanted)?;
    print(&search, &made, options, screen)?;
    if !options.how.json {
        screen.say(&format!("record: {}", records::shown(record.directory())));
    }
    let found = match search.capacity() {
        Capacity::Unknown => Validity::Invalid,
        _ => Validity::Valid,
    };
    Ok(exit(&outcome, found, false))
}

/// The record with a plan of all rates of full probes, so that it shows all of them as planned.
fn with_all_rates(
    options: &Load,
    search: &CapacitySearch,
    record: &Record,
    screen: &mut Screen,
) -> anyhow::Result<Record> {
    let directory = record.directory().to_owned();
    let has_full = search.probes().iter().any(|probe| !probe.is_short);
    let tried = search.probes().iter().filter(|probe| probe.is_short != has_full);
    let mut rates: Vec<f64> = tried.map(|probe| probe.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let plan = search.planned(1.0, !has_full);
    if rates.is_empty() {
        return Ok(Record::open(&directory)?);
    }
    let assembled = assemble_built(probe_campaign(options, &plan, &rates, 1)?, &directory)?;
    Ok(execute(&assembled, &quietly(&options.how), screen)?.0)
}

/// Probes have lines of their own.
fn quietly(options: &LoadFlags) -> RunFlags {
    RunFlags { quiet: true, ..how(options) }
}

/// Loads at these rates, as long as the plan says.
fn probe_campaign(
    options: &Load,
    plan: &ProbePlan,
    rates: &[f64],
    repeats: u32,
) -> Result<assay_campaign::CampaignBuilder, Mistake> {
    let mut campaign = campaign::common(options)?.repeats(repeats);
    let least = i64::try_from(plan.requests).unwrap_or(i64::MAX);
    campaign = campaign.setting("rate", rates.iter().map(|rate| Value::Float(*rate)).collect());
    campaign = campaign.fixed("min_requests", Value::Integer(least));
    campaign = campaign.fixed("duration", format!("{}ms", (plan.seconds * 1e3).round()).as_str());
    let others = options.settings.iter().filter(|(name, _)| *name != "rate" && *name != "duration");
    for (name, values) in others {
        campaign = campaign.setting(name, values.clone());
    }
    Ok(campaign)
}

/// What a probe found, and what is left.
fn progress(search: &CapacitySearch, made: &Made, seconds: f64) -> String {
    let probe = &made.probe;
    let share = probe.good.value().map_or("–".to_owned(), percent);
    let latency =
        made.p95.map(|(name, at, _)| format!(", {name} p95 {:.1} ms", at * 1e3)).unwrap_or_default();
    let so_far = match search.capacity() {
        Capacity::Between { low, high, .. } => format!("; capacity {low:.2} … {high:.2}"),
        _ => String::new(),
    };
    let left = match search.probes_left() {
        Some(count) if !probe.is_short && count > 0 => {
            format!(", about {:.0} s left", count as f64 * seconds)
        }
        _ => String::new(),
    };
    let outcome = search.outcome(probe).name();
    format!("{:.2} requests/s {outcome}: {share} good{latency}{so_far}{left}", probe.rate)
}

/// The search that the options ask for.
fn search(options: &Load) -> anyhow::Result<CapacitySearch> {
    let wanted = &options.how;
    let mistake = |text: &str, hint: &str| Err(Mistake::new(text, hint).into());
    let is_given = |name: &str| options.settings.contains_key(name);
    if !["slo_ttft", "slo_tpot", "slo_e2e"].into_iter().any(is_given) {
        return mistake(
            "--find-capacity requires at least one SLO",
            "give --slo-ttft, --slo-tpot or --slo-e2e, for example --slo-ttft 500ms",
        );
    }
    if let Some(name) = ["streams", "trace", "requests", "ramp_from"].into_iter().find(|name| is_given(name))
    {
        let text = format!("--find-capacity and --{} cannot be used together", name.replace('_', "-"));
        return mistake(&text, "a capacity is a rate: give --rate to start from, and --duration");
    }
    let is_single = options.settings.values().all(|values| values.len() == 1);
    if options.urls.len() > 1 || options.models.len() > 1 || !is_single {
        return mistake(
            "--find-capacity takes one endpoint and one value of each setting",
            "give one URL and one --rate",
        );
    }
    let is_share = |share: f64| share > 0.0 && share < 1.0;
    if !is_share(wanted.slo_share) || !is_share(wanted.precision) {
        return mistake(
            "--slo-share and --precision must be between 0 and 1",
            "for example --slo-share 0.99",
        );
    }
    let rate = options.settings.get("rate").and_then(|rates| rates.first()).and_then(Value::number);
    let begin = rate.unwrap_or(BEGIN);
    if !(begin > 0.0 && wanted.max_rate > 0.0 && begin.is_finite() && wanted.max_rate.is_finite()) {
        return mistake("--rate and --max-rate must be above 0", "for example --rate 1 --max-rate 1000");
    }
    Ok(CapacitySearch::new(
        begin,
        wanted.max_rate,
        wanted.slo_share,
        wanted.precision,
        probe_seconds(options)?,
    ))
}

/// How long a full probe is.
fn probe_seconds(options: &Load) -> Result<f64, Mistake> {
    let mut settings: assay_model::Settings = options
        .settings
        .iter()
        .filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())))
        .collect();
    settings.insert("mock".to_owned(), "".into());
    settings.remove("url");
    settings.entry("rate".to_owned()).or_insert(Value::Float(1.0));
    let chat = ChatSettings::new(&settings)?;
    if let Some(given) = chat.duration() {
        return Ok(given.as_secs_f64());
    }
    let bounds = chat.bounds();
    let longest = [bounds.ttft_s, bounds.e2e_s].into_iter().flatten().fold(0.0, f64::max);
    Ok((SLO_TIMES * longest).clamp(PROBE_SECONDS.0, PROBE_SECONDS.1))
}

/// What a load says about its rate.
fn probe(results: &LoadResults, is_short: bool) -> Option<Probe> {
    let endpoint = results.endpoints.first()?;
    let (good, validity) = (endpoint.summary.good, endpoint.verdict.validity);
    Some(Probe { rate: results.rate?, is_short, good, validity })
}

/// The 95th percentile of the first metric that has an SLO.
fn p95(results: &LoadResults) -> Option<P95> {
    let (summary, bounds) = (&results.endpoints.first()?.summary, &results.bounds);
    let metrics = [
        ("ttft", bounds.ttft_s, &summary.ttft),
        ("tpot", bounds.tpot_s, &summary.tpot),
        ("e2e", bounds.e2e_s, &summary.e2e),
    ];
    let (name, _, values) = metrics.into_iter().find(|(_, bound, _)| bound.is_some())?;
    Some((name, values.quantile(0.95)?, values.quantile_interval(0.95)))
}

fn print(search: &CapacitySearch, made: &[Made], options: &Load, screen: &mut Screen) -> anyhow::Result<()> {
    if options.how.json {
        return screen.json(&as_json(search, made));
    }
    let mut table = table(search, made);
    table.notes.push(answer(search, options.how.slo_share));
    if search.is_limited_by_client() {
        let note = "the client could not keep up: the capacity of the endpoint may be higher";
        let mark = table.footnote(note, "use more threads with --threads, or another machine as the client");
        if let Some(last) = table.notes.last_mut() {
            *last += &format!(" {mark}");
        }
    }
    Ok(screen.table(&table)?)
}

fn answer(search: &CapacitySearch, share: f64) -> String {
    let bound = format!("{} of requests meet every SLO", percent(share));
    let full = search.planned(1.0, false);
    match search.capacity() {
        Capacity::Between { center, low, high } => {
            let confidence =
                if search.has_interval() { ", 95 % interval" } else { ", between two short probes" };
            format!(
                "capacity: {center:.2} requests/s ({low:.2} … {high:.2}{confidence}), for loads of {:.0} s in which \
                 {bound}",
                full.seconds
            )
        }
        Capacity::AtLeast(rate) => format!("capacity: not reached; {bound} at {rate:.2} requests/s"),
        Capacity::None { below } => {
            format!("capacity: none; at {below:.4} requests/s it is not true that {bound}")
        }
        Capacity::Unknown if search.is_limited_by_client() => {
            "capacity: unknown; client-limited at every rate tried".to_owned()
        }
        Capacity::Unknown => "capacity: unknown; no probe was finished".to_owned(),
    }
}

fn table(search: &CapacitySearch, made: &[Made]) -> Table {
    let metric = made.iter().find_map(|made| made.p95).map_or("ttft", |(name, ..)| name);
    let numbers =
        ["requests/s".to_owned(), "requests".to_owned(), "good".to_owned(), format!("{metric} p95 [ms]")];
    let words = ["SLO", "probe", "result"].map(Column::left);
    let columns = numbers.into_iter().map(Column::right).chain(words).collect();
    let mut table = Table { columns, ..Table::default() };
    let mut sorted: Vec<&Made> = made.iter().collect();
    sorted.sort_by(|a, b| a.probe.rate.total_cmp(&b.probe.rate));
    let shares = |(low, high): (f64, f64)| format!(" ({} – {})", percent(low), percent(high));
    let times = |(low, high): (f64, f64)| format!(" ({:.1} – {:.1})", low * 1e3, high * 1e3);
    for Made { probe, good, p95 } in sorted {
        table.rows.push(vec![
            Cell::new(format!("{:.2}", probe.rate)),
            Cell::new(probe.good.all.to_string()),
            Cell::new(match probe.good.value() {
                Some(share) => format!("{}{}", percent(share), good.map(shares).unwrap_or_default()),
                None => "–".to_owned(),
            }),
            Cell::new(match p95 {
                Some((_, at, ends)) => format!("{:.1}{}", at * 1e3, ends.map(times).unwrap_or_default()),
                None => "–".to_owned(),
            }),
            Cell::new(search.outcome(probe).name()),
            Cell::new(if probe.is_short { "short" } else { "full" }),
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

fn as_json(search: &CapacitySearch, made: &[Made]) -> Json {
    let (found, center, low, high) = match search.capacity() {
        Capacity::Between { center, low, high } => ("found", Some(center), Some(low), Some(high)),
        Capacity::AtLeast(low) => ("not_reached", None, Some(low), None),
        Capacity::None { below } => ("none", None, None, Some(below)),
        Capacity::Unknown => ("unknown", None, None, None),
    };
    let probes = made.iter().map(|Made { probe, good, p95 }| {
        json!({
            "rate": probe.rate,
            "is_short": probe.is_short,
            "requests": probe.good.all,
            "good": probe.good.of,
            "good_share": probe.good.value(),
            "good_share_interval": good,
            "p95_metric": p95.map(|(name, ..)| name),
            "p95_s": p95.map(|(_, at, _)| at),
            "p95_interval_s": p95.and_then(|(_, _, ends)| ends),
            "slo": search.outcome(probe).name(),
            "validity": probe.validity.name(),
        })
    });
    json!({
        "schema": JSON_SCHEMA,
        "capacity": {
            "result": found,
            "center": center,
            "low": low,
            "high": high,
            "confidence": search.has_interval().then_some(0.95),
            "probe_s": search.planned(1.0, false).seconds,
            "limited_by_client": search.is_limited_by_client(),
        },
        "probes": probes.collect::<Vec<_>>(),
    })
}
