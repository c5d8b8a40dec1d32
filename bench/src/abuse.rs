//! Deliberate abuse: what strangers, full disks, kills and damaged files may do to the binary, each tried as a user or
//! an attacker would.

pub mod attack;
pub mod damage;
pub mod disk;
pub mod growth;
pub mod injection;
pub mod reading;
pub mod runs;
pub mod secrets;
pub mod server;
pub mod storm;
pub mod surroundings;
pub mod trial;
pub mod usage;
