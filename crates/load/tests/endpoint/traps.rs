//! Streams that are right but not as simple as a client may think.

use std::time::Duration;

use assay_load::calibration::{MockSchedule, UsageReport};
use assay_load::{ChunkKind, Exchange};

use super::support::{Seen, assert_near, measure};

/// Long until the first token, so that nothing can be mistaken for it.
fn slow() -> MockSchedule {
    let (first_token, gap) = (Duration::from_millis(300), Duration::from_millis(10));
    MockSchedule { first_token, gap, tokens: 24, ..MockSchedule::default() }
}

fn kinds(exchange: &Exchange, kind: ChunkKind) -> u32 {
    exchange.chunks.iter().filter(|chunk| chunk.kind == kind).map(|chunk| chunk.events).sum()
}

fn measured(schedule: MockSchedule) -> Seen {
    let seen = measure(schedule, |load| load.keep_answers = true);
    assert_eq!(seen.only().fault, None);
    assert_eq!(seen.only().status, Some(200));
    seen.assert_times(seen.only());
    seen
}

#[test]
fn a_role_chunk_at_once_is_no_token() {
    let seen = measured(MockSchedule { role_chunk: true, ..slow() });
    let exchange = seen.only();
    assert_eq!(exchange.chunks[0].kind, ChunkKind::Role);
    assert!(exchange.chunks[0].at_s - exchange.sent_at_s < 0.2, "the role chunk came at once");
    assert!(exchange.first_token_at_s.unwrap() - exchange.sent_at_s > 0.29);
    assert_eq!(kinds(exchange, ChunkKind::Content), 24);
}

#[test]
fn without_a_role_chunk_it_is_the_same() {
    let seen = measured(MockSchedule { role_chunk: false, ..slow() });
    assert_eq!(kinds(seen.only(), ChunkKind::Role), 0);
    assert!(seen.only().first_token_at_s.unwrap() - seen.only().sent_at_s > 0.29);
}

#[test]
fn four_tokens_per_chunk_are_counted_by_usage() {
    let seen = measured(MockSchedule { tokens_per_chunk: 4, ..slow() });
    assert_eq!(kinds(seen.only(), ChunkKind::Content), 6);
    assert_eq!(seen.only().usage.unwrap().output, Some(24));
    assert_eq!(seen.sends(seen.only()).tokens(), 24);
}

#[test]
fn without_usage_no_number_of_tokens_is_made_up() {
    let seen = measured(MockSchedule { tokens_per_chunk: 4, usage: UsageReport::Never, ..slow() });
    let exchange = seen.only();
    assert_eq!((exchange.usage, exchange.counted), (None, None));
    assert!(exchange.chunks.iter().all(|chunk| chunk.tokens.is_none()));
}

#[test]
fn reasoning_is_a_token_and_no_output() {
    let seen = measured(MockSchedule { reasoning_tokens: 12, ..slow() });
    let exchange = seen.only();
    assert_eq!((kinds(exchange, ChunkKind::Reasoning), kinds(exchange, ChunkKind::Content)), (12, 12));
    assert_near(exchange.first_output_at_s.unwrap() - exchange.first_token_at_s.unwrap(), 0.12);
    assert_eq!(exchange.usage.unwrap().reasoning, Some(12));
}

#[test]
fn a_tool_call_is_a_token() {
    let seen = measured(MockSchedule { tool_tokens: 24, ..slow() });
    assert_eq!(kinds(seen.only(), ChunkKind::ToolCall), 24);
    assert_eq!(seen.only().finish.as_deref(), Some("tool_calls"));
    assert_eq!(seen.only().first_output_at_s, seen.only().first_token_at_s);
}

#[test]
fn pings_are_nothing() {
    let seen = measured(MockSchedule { pings: Some(Duration::from_millis(40)), ..slow() });
    assert!(seen.only().first_token_at_s.unwrap() - seen.only().sent_at_s > 0.29);
    assert_eq!(kinds(seen.only(), ChunkKind::Content), 24);
}

#[test]
fn lines_may_end_in_carriage_returns() {
    let crlf = measured(MockSchedule { crlf: true, pings: Some(Duration::from_millis(40)), ..slow() });
    let plain = measured(slow());
    assert_eq!(kinds(crlf.only(), ChunkKind::Content), 24);
    assert_eq!(crlf.only().answer, plain.only().answer);
}

#[test]
fn a_character_may_come_in_two_pieces() {
    let seen = measured(MockSchedule { split_events: true, ..slow() });
    let answer = seen.only().answer.as_deref().unwrap();
    assert!(answer.contains("für") && answer.contains("東京") && answer.contains('🙂'), "{answer}");
    assert!(!answer.contains('\u{fffd}'), "{answer}");
    assert_eq!(kinds(seen.only(), ChunkKind::Content), 24);
}

#[test]
fn everything_at_once_has_the_same_time() {
    let schedule = MockSchedule { events_per_write: u32::MAX, gap: Duration::ZERO, ..slow() };
    let seen = measured(schedule);
    let exchange = seen.only();
    assert_eq!(kinds(exchange, ChunkKind::Content), 24);
    assert!(exchange.merged_stamps >= 23, "{}", exchange.merged_stamps);
    assert_eq!(exchange.first_token_at_s, exchange.last_token_at_s);
}

#[test]
fn nothing_is_lost_at_full_speed() {
    let schedule = MockSchedule { tokens: 3000, ..MockSchedule::instant() };
    let seen = measure(schedule, |load| {
        *load = assay_load::run::Load { requests: Some(32), ..load.clone() };
        load.arrivals = assay_load::arrivals::Arrivals::Closed { streams: 8 };
    });
    assert_eq!(seen.exchanges.len(), 32);
    for exchange in &seen.exchanges {
        assert_eq!(exchange.fault, None);
        assert_eq!((kinds(exchange, ChunkKind::Content), exchange.usage.unwrap().output), (3000, Some(3000)));
    }
    assert_eq!(seen.outcome.health.connections, 8);
    assert_eq!(seen.server.connections, 8);
}

#[test]
fn jitter_and_many_streams_keep_their_true_times() {
    let schedule = MockSchedule {
        gap: Duration::from_millis(15),
        first_token_jitter: Duration::from_millis(20),
        gap_jitter: Duration::from_millis(5),
        spread_phases: true,
        tokens: 20,
        ..MockSchedule::default()
    };
    let seen = measure(schedule, |load| {
        load.arrivals = assay_load::arrivals::Arrivals::Closed { streams: 16 };
        load.requests = Some(48);
    });
    assert_eq!(seen.exchanges.len(), 48);
    for exchange in &seen.exchanges {
        seen.assert_times(exchange);
    }
    let (low, high) = seen.server.phase_spread().unwrap();
    assert!(low > 0.3 && high < 2.5, "{low} {high}");
}

#[test]
fn the_servers_own_times_are_kept() {
    let seen = measured(MockSchedule { timings: true, ..slow() });
    let server = seen.only().server.expect("times of the server");
    assert_near(server.prompt_s.unwrap(), 0.3);
    assert_near(server.output_s.unwrap(), 0.23);
}
