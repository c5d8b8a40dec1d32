//! Records as whole directories, on real and simulated disks.

#[cfg(test)]
mod common;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod record;
#[cfg(test)]
mod secrets;
