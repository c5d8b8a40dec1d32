//! More streams than hyper is kept for: it is let go while they wait for an answer, and comes back for the answer.

use std::time::Duration;

use assay_load::FaultKind;
use assay_load::arrivals::Arrivals;
use assay_load::calibration::{Close, Failure, FailureKind, MockSchedule, When};
use assay_load::run::Load;

use super::support::{Seen, measure};

/// Above the number from which connections save memory.
const STREAMS: u32 = 272;

/// The answer begins a while after the request, with its first token.
fn waiting() -> MockSchedule {
    let (first_token, gap) = (Duration::from_millis(200), Duration::from_millis(5));
    MockSchedule { first_token, gap, tokens: 4, role_chunk: false, ..MockSchedule::default() }
}

fn with_many(schedule: MockSchedule, requests: u64) -> Seen {
    measure(schedule, |load: &mut Load| {
        load.arrivals = Arrivals::Closed { streams: STREAMS };
        load.requests = Some(requests);
    })
}

#[test]
fn answers_that_are_waited_for_come_whole_and_connections_are_used_again() {
    let seen = with_many(waiting(), 2 * u64::from(STREAMS));
    assert_eq!(seen.exchanges.len(), 2 * STREAMS as usize);
    for exchange in &seen.exchanges {
        assert_eq!((exchange.fault.as_ref(), exchange.status), (None, Some(200)));
        assert_eq!(exchange.usage.unwrap().output, Some(4));
        assert!(exchange.first_token_at_s.unwrap() - exchange.sent_at_s > 0.19, "{exchange:?}");
    }
    assert_eq!(seen.outcome.health.connections, u64::from(STREAMS));
}

#[test]
fn answers_in_one_piece_and_refusals_come_too() {
    let status = FailureKind::Status { status: 503, retry_after: Some(7) };
    let failures = vec![Failure { when: When::Every(4), kind: status }];
    let seen = measure(MockSchedule { failures, ..waiting() }, |load: &mut Load| {
        load.arrivals = Arrivals::Closed { streams: STREAMS };
        load.requests = Some(u64::from(STREAMS));
        load.endpoints.iter_mut().for_each(|endpoint| endpoint.stream = false);
    });
    let refused: Vec<_> = seen.exchanges.iter().filter_map(|one| one.fault.as_ref()).collect();
    assert_eq!(refused.len(), STREAMS as usize / 4);
    assert!(refused.iter().all(|fault| fault.retry_after_s == Some(7.0)), "{:?}", refused[0]);
}

#[test]
fn what_happens_while_an_answer_is_waited_for_is_seen() {
    // A request on a connection that the server gave up meanwhile is sent again.
    let closing = with_many(MockSchedule { close: Close::Unannounced, ..waiting() }, 2 * u64::from(STREAMS));
    assert!(closing.exchanges.iter().all(|one| one.fault.is_none()));
    let failures = vec![Failure { when: When::Every(1), kind: FailureKind::Silence }];
    let silent = measure(MockSchedule { failures, ..waiting() }, |load: &mut Load| {
        load.arrivals = Arrivals::Closed { streams: STREAMS };
        load.requests = Some(u64::from(STREAMS));
        load.timeout = Duration::from_millis(700);
    });
    let kinds = || silent.exchanges.iter().filter_map(|one| one.fault.as_ref()).map(|fault| fault.kind);
    assert_eq!(kinds().count(), STREAMS as usize);
    assert!(kinds().all(|kind| kind == FaultKind::NoAnswer));
}
