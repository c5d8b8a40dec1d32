//! When requests are sent.

use std::time::Duration;

use assay_load::arrivals::{Arrivals, Conversations, Think, Trace, TraceEntry};
use assay_load::calibration::MockSchedule;

use super::support::{MARGIN_S, assert_near, measure};

fn short() -> MockSchedule {
    MockSchedule { tokens: 5, ..MockSchedule::default() }
}

#[test]
fn an_open_loop_keeps_its_intended_times() {
    let arrivals = Arrivals::Poisson { rate: 200.0 };
    let expected: Vec<f64> = arrivals.times(9).unwrap().take(100).collect();
    let seen = measure(short(), |load| {
        load.arrivals = arrivals.clone();
        load.requests = Some(100);
        load.seed = 9;
    });
    assert_eq!(seen.exchanges.len(), 100);
    for (exchange, expected) in seen.exchanges.iter().zip(expected) {
        assert!((exchange.intended_at_s - seen.outcome.began_s - expected).abs() < 1e-6);
        assert!(exchange.sent_at_s >= exchange.intended_at_s - 1e-9, "never early");
        assert!(exchange.sent_at_s - exchange.intended_at_s < MARGIN_S);
    }
}

#[test]
fn waiting_for_a_free_stream_counts_from_the_intended_time() {
    // Ten requests at once, one after the other at 60 ms each: the last one waits for more than half a second.
    let at_once = vec![TraceEntry::default(); 10];
    let schedule =
        MockSchedule { first_token: Duration::from_millis(60), tokens: 1, ..MockSchedule::default() };
    let seen = measure(schedule, |load| {
        load.arrivals = Arrivals::Trace(Trace::new(at_once));
        load.requests = None;
        load.most_in_flight = 1;
    });
    assert_eq!(seen.exchanges.len(), 10);
    assert_eq!(seen.server.most_in_flight, 1);
    let waits: Vec<f64> =
        seen.exchanges.iter().map(|one| one.first_token_at_s.unwrap() - one.intended_at_s).collect();
    let longest = waits.iter().copied().fold(0.0, f64::max);
    assert!(longest > 0.59, "{waits:?}");
}

#[test]
fn a_session_of_a_trace_waits_for_its_answers() {
    // The trace has all three requests at once; answers take at least 60 ms.
    let turn = |turn, delay_s| TraceEntry { session: Some((3, turn)), delay_s, ..TraceEntry::default() };
    let entries = vec![turn(0, None), turn(1, None), TraceEntry::default(), turn(2, Some(0.1))];
    let schedule =
        MockSchedule { first_token: Duration::from_millis(60), tokens: 1, ..MockSchedule::default() };
    for threads in [1, 2] {
        let seen = measure(schedule.clone(), |load| {
            load.arrivals = Arrivals::Trace(Trace::new(entries.clone()));
            load.requests = None;
            load.threads = threads;
        });
        let [first, second, alone, third] = &seen.exchanges[..] else { panic!("four requests") };
        assert_eq!((first.intended_at_s, alone.intended_at_s), (alone.intended_at_s, first.intended_at_s));
        assert!(second.sent_at_s >= first.end_at_s && second.intended_at_s >= first.end_at_s, "{second:?}");
        assert!(third.sent_at_s >= second.end_at_s + 0.1 - 1e-6, "{third:?}");
        assert!(third.sent_at_s - third.intended_at_s < MARGIN_S, "{third:?}");
    }
}

#[test]
fn conversations_think_between_their_turns() {
    let think = Think::Constant(Duration::from_millis(120));
    let begin = Box::new(Arrivals::Closed { streams: 2 });
    let seen = measure(short(), |load| {
        load.arrivals = Arrivals::Conversations(Conversations { begin, turns: 3, think });
        load.requests = Some(4);
        load.keep_answers = true;
    });
    assert_eq!(seen.exchanges.len(), 12);
    for conversation in 0..4 {
        let mut turns: Vec<_> = seen
            .exchanges
            .iter()
            .filter(|one| one.conversation.is_some_and(|(of, _)| of == conversation))
            .collect();
        turns.sort_by_key(|one| one.conversation);
        assert_eq!(turns.len(), 3);
        for pair in turns.windows(2) {
            assert_near(pair[1].intended_at_s - pair[0].end_at_s, 0.12);
            // A turn brings what was said before along.
            assert!(pair[1].usage.unwrap().prompt > pair[0].usage.unwrap().prompt);
        }
    }
}

#[test]
fn warm_up_is_apart() {
    let seen = measure(short(), |load| {
        load.warm_up = 3;
        load.requests = Some(5);
    });
    let (warm, measured): (Vec<_>, Vec<_>) = seen.exchanges.iter().partition(|one| one.warm_up);
    assert_eq!((warm.len(), measured.len()), (3, 5));
    let last_warm = warm.iter().map(|one| one.end_at_s).fold(0.0, f64::max);
    assert!(measured.iter().all(|one| one.sent_at_s >= last_warm));
}

#[test]
fn threads_share_the_work() {
    let seen = measure(short(), |load| {
        load.threads = 2;
        load.arrivals = Arrivals::Closed { streams: 8 };
        load.requests = Some(64);
    });
    let indexes: Vec<u64> = seen.exchanges.iter().map(|one| one.index).collect();
    assert_eq!(indexes, (0..64).collect::<Vec<_>>());
    assert_eq!(seen.outcome.health.cpu_s.len(), 2);
}
