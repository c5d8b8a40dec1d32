//! `load --find-capacity`: the highest rate at which requests meet their SLOs. Each probe is a run of the record, with
//! arrivals and prompts of its own.

use assay_judge::load::{Capacity, Probe, Search, Validity};
use assay_launch::Outcome;
use assay_model::Value;
use assay_report::number::percent;
use assay_report::{Cell, Column, Table, Tone};
use assay_store::Record;
use serde_json::{Value as Json, json};

use super::{campaign, exit, how, report_options};
use crate::execute::{assemble_built, execute};
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::load::Load;
use crate::records;
use crate::screen::{JSON_SCHEMA, Screen};
use crate::workloads::chat::report::{self, ReportOptions};
use crate::workloads::chat::results::LoadResults;

/// How long requests are sent at each rate, unless the options say otherwise.
const DURATION: &str = "10s";

/// Looks for the capacity and prints it with every probe.
pub(super) fn find(options: &Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut search = search(options)?;
    let record = campaign::record(&options.how)?;
    let mut last: Option<(Record, Outcome)> = None;
    while let Some(rate) = search.next_rate() {
        let tries = search.probes().iter().filter(|probe| probe.rate == rate).count();
        let repeats = u32::try_from(tries + 1).unwrap_or(u32::MAX);
        let assembled = assemble_built(probe_campaign(options, &search, &[rate], repeats)?, &record)?;
        let (record, outcome) = execute(&assembled, &how(&options.how), screen)?;
        let is_over = outcome.ending != assay_launch::Ending::Complete;
        let loads = report::of_record(&record, &record.index()?)?;
        last = Some((record, outcome));
        // The newest load of this rate is the one that was just made.
        let newest = loads.iter().rev().find(|load| load.results.rate == Some(rate));
        let Some(probe) = newest.and_then(|load| probe(&load.results)).filter(|_| !is_over) else { break };
        search.add(probe);
        if !options.how.quiet && !options.how.json {
            screen.say(&format!("{rate:.2} requests/s: {}", search.outcome(rate).name()));
        }
    }
    let Some((_, outcome)) = last else { anyhow::bail!("no rate was tried") };
    // The last plan has every rate that was tried, so that the record shows all of them as planned.
    let mut rates: Vec<f64> = search.probes().iter().map(|probe| probe.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let assembled = assemble_built(probe_campaign(options, &search, &rates, 1)?, &record)?;
    let (record, _) = execute(&assembled, &how(&options.how), screen)?;
    let loads = report::of_record(&record, &record.index()?)?;
    let wanted = ReportOptions { json: false, ..report_options(&options.how) };
    report::export(&loads, &wanted)?;
    print(&search, options, screen)?;
    if !options.how.json {
        screen.say(&format!("record: {}", records::shown(record.directory())));
    }
    let found = match search.capacity() {
        Capacity::Unknown => Validity::Invalid,
        _ => Validity::Valid,
    };
    Ok(exit(&outcome, found, false))
}

/// Loads at these rates, long enough to decide.
fn probe_campaign(
    options: &Load,
    search: &Search,
    rates: &[f64],
    repeats: u32,
) -> Result<assay_campaign::CampaignBuilder, Mistake> {
    let mut campaign = campaign::common(options)?.repeats(repeats);
    let least = i64::try_from(search.requests_needed()).unwrap_or(i64::MAX);
    campaign = campaign.setting("rate", rates.iter().map(|rate| Value::Float(*rate)).collect());
    campaign = campaign.fixed("min_requests", Value::Integer(least));
    if !options.settings.contains_key("duration") {
        campaign = campaign.fixed("duration", DURATION);
    }
    for (name, values) in options.settings.iter().filter(|(name, _)| *name != "rate") {
        campaign = campaign.setting(name, values.clone());
    }
    Ok(campaign)
}

/// The search that the options ask for.
fn search(options: &Load) -> anyhow::Result<Search> {
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
    let begin = rate.unwrap_or(1.0);
    if !(begin > 0.0 && wanted.max_rate > 0.0 && begin.is_finite() && wanted.max_rate.is_finite()) {
        return mistake("--rate and --max-rate must be above 0", "for example --rate 1 --max-rate 1000");
    }
    Ok(Search::new(begin, wanted.max_rate, wanted.slo_share, wanted.precision))
}

/// What a load says about its rate.
fn probe(results: &LoadResults) -> Option<Probe> {
    let endpoint = results.endpoints.first()?;
    Some(Probe { rate: results.rate?, good: endpoint.summary.good, validity: endpoint.verdict.validity })
}

fn print(search: &Search, options: &Load, screen: &mut Screen) -> anyhow::Result<()> {
    if options.how.json {
        return screen.json(&as_json(search));
    }
    let mut table = table(search);
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

fn answer(search: &Search, share: f64) -> String {
    let bound = format!("{} of requests meet every SLO", percent(share));
    match search.capacity() {
        Capacity::Between { low, high } => {
            format!(
                "capacity: {low:.2} requests/s ({low:.2} … {high:.2}): {bound} at {low:.2}, and not at {high:.2}"
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

fn table(search: &Search) -> Table {
    let numbers = ["requests/s", "requests", "good"].map(Column::right);
    let words = ["interval", "SLO", "result"].map(Column::left);
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
            Cell::new(search.outcome(probe.rate).name()),
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

fn as_json(search: &Search) -> Json {
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
            "slo": search.outcome(probe.rate).name(),
            "validity": probe.validity.name(),
        })
    });
    json!({
        "schema": JSON_SCHEMA,
        "capacity": { "result": found, "low": low, "high": high, "limited_by_client": search.is_limited_by_client() },
        "probes": probes.collect::<Vec<_>>(),
    })
}
