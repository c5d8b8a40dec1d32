//! `internal exercise`: a piece of real work, so that the tour measures something real on any machine.

use std::time::Instant;

use crate::exit::Exit;
use crate::options::Exercise;
use crate::screen::Screen;

/// The data that is checksummed over and over: small enough to stay in a cache near the CPU.
const DATA: usize = 1 << 20;

/// Checksums data block by block and prints the rate, each block on its own.
pub fn exercise(options: &Exercise, screen: &mut Screen) -> anyhow::Result<Exit> {
    let data: Vec<u8> = (0..DATA).map(|index| (index * 131 % 251) as u8).collect();
    let block = options.block as usize;
    let total = u64::from(options.megabytes) * 1_000_000;
    let began = Instant::now();
    let mut done: u64 = 0;
    let mut mixed: u32 = 0;
    while done < total {
        for piece in data.chunks(block) {
            mixed ^= crc32fast::hash(std::hint::black_box(piece));
        }
        done += data.len() as u64;
    }
    let seconds = began.elapsed().as_secs_f64();
    screen.data(&format!("throughput={:.1} MB/s\n", done as f64 / seconds / 1e6))?;
    screen.data(&format!("checksum {mixed:08x}\n"))?;
    Ok(Exit::Fine)
}
