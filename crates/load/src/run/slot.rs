//! A connection with the request on it, and what happens there.

use super::schedule::ScheduledRequest;
use crate::connection::{Connection, ConnectionEvent};
use crate::exchange::Flight;
use crate::fault::Fault;

/// A connection and what goes on there.
pub(super) struct Slot {
    pub(super) connection: Connection,
    pub(super) endpoint: usize,
    /// Distinguishes it from what had this place before.
    pub(super) generation: u32,
    pub(super) is_watched_for_writing: bool,
    /// Whether a request was answered on it before.
    pub(super) was_used: bool,
    pub(super) request: Option<Request>,
    /// When the last bytes came.
    pub(super) last_ns: Option<i64>,
}

/// A request that is going on.
pub(super) struct Request {
    pub(super) job: ScheduledRequest,
    pub(super) flight: Flight,
    pub(super) started_ns: i64,
    /// How much later that was than meant.
    pub(super) late_ns: i64,
}

/// What happened while a connection was driven.
#[derive(Default)]
pub(super) struct Round {
    pub(super) pieces: u32,
    pub(super) last_ns: Option<i64>,
    pub(super) connected_ns: Option<i64>,
    pub(super) ended: Option<(Option<Fault>, i64)>,
}

/// Notes what happened on a connection.
pub(super) fn note(event: ConnectionEvent<'_>, request: &mut Option<Request>, round: &mut Round) {
    match event {
        ConnectionEvent::Connected(at_ns) => round.connected_ns = Some(at_ns),
        ConnectionEvent::Head(head, at_ns) => {
            round.last_ns = Some(at_ns);
            if let Some(request) = request {
                request.flight.head(&head, at_ns);
            }
        }
        ConnectionEvent::Data(bytes, pieces, at_ns) => {
            round.pieces += pieces;
            round.last_ns = Some(at_ns);
            // What a server sends beyond a limit is read until it pauses, and not looked at again.
            if let Some(request) = request
                && round.ended.is_none()
                && let Err(fault) = request.flight.data(bytes, at_ns)
            {
                round.ended.get_or_insert((Some(fault), at_ns));
            }
        }
        ConnectionEvent::End(at_ns) => {
            round.ended.get_or_insert((None, at_ns));
        }
        ConnectionEvent::Failed(fault, at_ns) => {
            round.ended.get_or_insert((Some(fault), at_ns));
        }
    }
}

/// The name of a place for the reactor.
pub(super) fn name(place: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | place as u64
}
