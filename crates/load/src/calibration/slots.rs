//! Requests that wait until others have been answered.

use std::io;

use super::connections::Work;
use super::serve::Serve;
use crate::clock::monotonic_ns;

impl Serve {
    /// Begins with requests that waited, as far as there are slots for them.
    pub(super) fn admit(&mut self) -> io::Result<()> {
        while self.in_flight < self.slots
            && let Some((place, generation)) = self.waiting.pop_front()
        {
            // A client that did not wait has left its place, perhaps to another.
            let Some(connection) = self.connections.find(place, generation) else { continue };
            match std::mem::replace(&mut connection.work, Work::Idle) {
                Work::Waiting(request) => {
                    connection.arrived_ns = monotonic_ns();
                    if let Some(bytes) = self.begin(place, request)? {
                        self.write_answer(place, &bytes)?;
                        self.read_requests(place)?;
                    }
                }
                other => connection.work = other,
            }
        }
        Ok(())
    }
}
