//! The calibration endpoint: settings to its schedule. `assay serve-mock` has them as flags, the setting `mock` of
//! `chat` as a list such as `ttft=20ms,itl=2ms,crlf`.

use std::time::Duration;

use assay_load::calibration::{Failure, FailureKind, MockSchedule, UsageReport, When};
use assay_model::{SettingKind, Settings, Value};
use assay_workloads::arguments;
use assay_workloads::settings::CheckedSettings;

use super::description;
use crate::failure::Mistake;

/// Reads the list of the setting `mock`.
pub fn listed(text: &str) -> Result<MockSchedule, Mistake> {
    let known = description::mock();
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let settings: Settings = parts
        .map(|part| {
            let (name, value) =
                part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
            let name = name.trim().replace('-', "_");
            let kind =
                known.settings.iter().find(|setting| setting.name == name).map(|setting| &setting.kind);
            let value = match (kind, value) {
                (Some(SettingKind::Switch), None) => Value::Switch(true),
                (Some(kind), Some(value)) => arguments::value(kind, value.trim()),
                (_, value) => Value::from(value.unwrap_or_default()),
            };
            (name, value)
        })
        .collect();
    schedule(&settings)
}

/// The schedule that settings describe.
pub fn schedule(settings: &Settings) -> Result<MockSchedule, Mistake> {
    let checked = CheckedSettings::new(&description::mock(), settings)?;
    let share = |name: &str, kind| -> Result<Option<Failure>, Mistake> {
        let share = checked.optional_number(name);
        if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(Mistake::new(format!("`{name}` must be between 0 and 1"), "for example 0.1"));
        }
        Ok(share.filter(|share| *share > 0.0).map(|share| Failure { when: When::Share(share), kind }))
    };
    let small = |name: &str| u32::try_from(checked.integer(name)).unwrap_or(u32::MAX);
    let tokens = small("tokens");
    let failures = [
        share("busy", FailureKind::Status { status: 429, retry_after: Some(1) })?,
        share("cut", FailureKind::Cut { after: tokens / 2 })?,
        share("error", FailureKind::ErrorEvent { after: tokens / 2 })?,
    ];
    let is_instant = checked.switch("instant");
    let base = if is_instant { MockSchedule::instant() } else { MockSchedule::default() };
    let time = |name: &str| checked.duration(name).unwrap_or(Duration::ZERO);
    let paced = |name: &str| if is_instant { Duration::ZERO } else { time(name) };
    Ok(MockSchedule {
        first_token: paced("ttft"),
        gap: paced("itl"),
        first_token_jitter: time("jitter"),
        gap_jitter: time("jitter"),
        tokens,
        tokens_per_chunk: small("tokens_per_chunk"),
        text: checked.optional_text("text").map(str::to_owned),
        role_chunk: !checked.switch("no_role"),
        reasoning_tokens: small("reasoning"),
        usage: if checked.switch("no_usage") { UsageReport::Never } else { UsageReport::WhenAsked },
        pings: checked.duration("pings"),
        crlf: checked.switch("crlf"),
        split_events: checked.switch("split"),
        spread_phases: checked.switch("spread"),
        slots: checked.optional_integer("slots").map(|slots| u32::try_from(slots).unwrap_or(u32::MAX)),
        failures: failures.into_iter().flatten().collect(),
        seed: checked.integer("seed"),
        ..base
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_settings_is_a_schedule() {
        let schedule = listed("ttft=30ms, itl=1.5ms,crlf,slots=4").unwrap();
        assert_eq!(
            (schedule.first_token, schedule.gap),
            (Duration::from_millis(30), Duration::from_micros(1500))
        );
        assert_eq!((schedule.crlf, schedule.slots), (true, Some(4)));
        assert_eq!(listed("itl=0").unwrap().gap, Duration::ZERO);
        for (mock, part) in [
            ("first=30", "first"),
            ("itl=x", "itl"),
            ("busy=2", "busy"),
            ("ttft=-1", "ttft"),
            ("slots=0", "slots"),
        ] {
            let error = listed(mock).unwrap_err();
            assert!(error.text.contains(part) && error.hint.is_some(), "{}", error.text);
        }
    }
}
