//! Sessions of a trace: nobody replies to an answer that has not come, so a request waits for the previous answer of its
//! session, however early the trace has it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// A request of a trace whose session waits for an earlier answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) index: u64,
    /// When the trace sends it.
    pub(super) recorded_ns: i64,
    /// How long after the earlier answer it is sent at least.
    pub(super) delay_ns: i64,
}

/// The sessions with a request in flight, by endpoint, and what each of them sends next.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<(usize, u64), VecDeque<Held>>);

impl Sessions {
    /// Puts a request aside if its session waits for an answer, and otherwise marks the session as waiting for its own.
    pub(super) fn hold(&mut self, endpoint: usize, session: u64, request: Held) -> bool {
        match self.0.entry((endpoint, session)) {
            Entry::Vacant(vacant) => {
                vacant.insert(VecDeque::new());
                false
            }
            Entry::Occupied(mut held) => {
                held.get_mut().push_back(request);
                true
            }
        }
    }

    /// What a session sends next, now that an answer of it has ended.
    pub(super) fn release(&mut self, endpoint: usize, session: u64) -> Option<Held> {
        let Entry::Occupied(mut held) = self.0.entry((endpoint, session)) else { return None };
        let next = held.get_mut().pop_front();
        if next.is_none() {
            held.remove();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_sends_one_request_at_a_time_and_in_order() {
        let mut sessions = Sessions::default();
        let held = |index| Held { index, recorded_ns: 0, delay_ns: 0 };
        assert!(!sessions.hold(0, 7, held(0)));
        assert!(sessions.hold(0, 7, held(1)) && sessions.hold(0, 7, held(2)));
        assert!(!sessions.hold(1, 7, held(0)), "another endpoint has sessions of its own");
        assert_eq!(sessions.release(0, 7).map(|held| held.index), Some(1));
        assert_eq!(sessions.release(0, 7).map(|held| held.index), Some(2));
        assert_eq!(sessions.release(0, 7), None);
        assert!(!sessions.hold(0, 7, held(3)), "it is free again");
    }
}
