//! Connections to clients, each at a place of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::reply::Later;
use super::request::ParsedRequest;
use super::stream::Stream;
use super::transport::Transport;

/// A connection to a client.
pub(super) struct Connection {
    pub transport: Transport,
    /// Distinguishes it from an earlier connection in the same slot.
    pub generation: u32,
    pub input: Vec<u8>,
    pub work: Work,
    /// When the last bytes came.
    pub arrived_ns: i64,
    /// Whether the connection ends with the answer that is being sent.
    pub close: bool,
    /// Whether it has had a request.
    pub is_used: bool,
    /// Whether the client was asked to go on with its body.
    pub was_continued: bool,
}

/// What is being answered.
pub(super) enum Work {
    /// Nothing: the next request is waited for.
    Idle,
    /// Nothing yet: others are worked on.
    Waiting(Box<ParsedRequest>),
    Stream(Box<Stream>),
    Later(Later),
    /// Nothing, and nothing ever will be.
    Silence,
}

/// All connections.
#[derive(Default)]
pub(super) struct Connections {
    all: Vec<Option<Connection>>,
    /// Free places, the lowest first: places decide where in the gap a stream's tokens come.
    free: BinaryHeap<Reverse<u32>>,
    generations: u32,
}

impl Connections {
    /// Takes a new connection in. Gives its place and its generation.
    pub(super) fn insert(&mut self, transport: Transport) -> (u32, u32) {
        self.generations = self.generations.wrapping_add(1);
        let generation = self.generations;
        let (input, work) = (Vec::new(), Work::Idle);
        let new = Connection {
            transport,
            generation,
            input,
            work,
            arrived_ns: 0,
            close: false,
            is_used: false,
            was_continued: false,
        };
        let place = match self.free.pop() {
            Some(Reverse(place)) => place,
            None => {
                self.all.push(None);
                self.all.len() as u32 - 1
            }
        };
        self.all[place as usize] = Some(new);
        (place, generation)
    }

    /// The connection at a place.
    pub(super) fn at(&mut self, place: u32) -> Option<&mut Connection> {
        self.all.get_mut(place as usize)?.as_mut()
    }

    /// The connection at a place, if it is still the one that was meant.
    pub(super) fn find(&mut self, place: u32, generation: u32) -> Option<&mut Connection> {
        self.at(place).filter(|connection| connection.generation == generation)
    }

    /// Lets a connection go, which closes it.
    pub(super) fn remove(&mut self, place: u32) {
        if self.all.get_mut(place as usize).and_then(Option::take).is_some() {
            self.free.push(Reverse(place));
        }
    }

    /// All places that ever were.
    pub(super) fn places(&self) -> std::ops::Range<u32> {
        0..self.all.len() as u32
    }
}
