//! A simulated disk for tests and crash benches: it tears, shortens and reorders writes, fills up, fails to sync,
//! and forgets what was not synced when power goes.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_random::Random;

use crate::medium::Medium;

/// What a disk writes as one piece.
const SECTOR: usize = 512;

/// Something that goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// A write takes at most this many bytes, and says so.
    Short(usize),
    /// A write is interrupted by a signal before it did anything.
    Interrupted,
    /// The disk is full: a write takes this many bytes, and the next one fails.
    Full(usize),
    /// A write fails with an input/output error.
    Broken,
    /// A sync fails, and what was not synced may be gone.
    SyncFails,
}

/// A simulated disk that holds one file. Clones are handles to the same disk.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    synced: Vec<u8>,
    /// Written, but only in the page cache.
    unsynced: Vec<u8>,
    faults: VecDeque<InjectedFault>,
    full: bool,
}

impl Contents {
    /// Uses up the next fault if it concerns this kind of call.
    fn next_fault(&mut self, concerns: impl Fn(InjectedFault) -> bool) -> Option<InjectedFault> {
        let fault = self.faults.front().copied().filter(|fault| concerns(*fault))?;
        self.faults.pop_front();
        Some(fault)
    }
}

impl SimulatedDisk {
    /// A disk whose file holds these bytes, synced.
    pub fn holding(bytes: Vec<u8>) -> SimulatedDisk {
        SimulatedDisk(Arc::new(Mutex::new(Contents { synced: bytes, ..Contents::default() })))
    }

    /// Adds a fault; each call of the kind that it concerns uses up one.
    pub fn inject(&self, fault: InjectedFault) {
        self.contents().faults.push_back(fault);
    }

    /// Ends a full disk's state, as if the user had made space.
    pub fn free_space(&self) {
        self.contents().full = false;
    }

    /// The file as other processes see it: what remains after `kill -9`.
    pub fn bytes(&self) -> Vec<u8> {
        let contents = self.contents();
        [contents.synced.as_slice(), contents.unsynced.as_slice()].concat()
    }

    /// The file as a loss of power may leave it. What was synced is whole. Of the rest any prefix of the length may
    /// have reached the disk, and in it any set of sectors; the others read as zeros.
    pub fn crash(&self, seed: u64) -> Vec<u8> {
        let contents = self.contents();
        let mut random = Random::new(seed);
        let kept = contents.synced.len() + random.below(contents.unsynced.len() as u64 + 1) as usize;
        let all = [contents.synced.as_slice(), contents.unsynced.as_slice()].concat();
        // Sometimes nearly all sectors are written, sometimes nearly none.
        let chance = random.below(9);
        let mut left = contents.synced.clone();
        while left.len() < kept {
            let end = ((left.len() / SECTOR + 1) * SECTOR).min(kept);
            match all.get(left.len()..end) {
                Some(sector) if random.below(8) < chance => left.extend_from_slice(sector),
                _ => left.resize(end, 0),
            }
        }
        left
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Medium for SimulatedDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut contents = self.contents();
        if contents.full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let room = match contents.next_fault(|fault| fault != InjectedFault::SyncFails) {
            None | Some(InjectedFault::SyncFails) => bytes.len(),
            Some(InjectedFault::Short(room)) => room.max(1),
            Some(InjectedFault::Interrupted) => return Err(io::ErrorKind::Interrupted.into()),
            Some(InjectedFault::Broken) => return Err(io::Error::other("input/output error")),
            Some(InjectedFault::Full(room)) => {
                contents.full = true;
                if room == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                room
            }
        };
        let taken = bytes.get(..room).unwrap_or(bytes);
        contents.unsynced.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut contents = self.contents();
        if contents.next_fault(|fault| fault == InjectedFault::SyncFails).is_some() {
            return Err(io::Error::other("input/output error"));
        }
        let unsynced = std::mem::take(&mut contents.unsynced);
        contents.synced.extend_from_slice(&unsynced);
        Ok(())
    }
}
