//! The two system calls the journal rests on. Tests and crash benches put a simulated disk in their place.

use std::fs::File;
use std::io::{self, Write};

/// Something that takes bytes at its end and can make them durable.
pub trait Medium {
    /// Appends some or all of the bytes and says how many, like `write(2)`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Makes everything written so far survive the loss of power, like `fdatasync(2)`.
    fn sync_data(&mut self) -> io::Result<()>;
}

/// A file opened for appending.
#[derive(Debug)]
pub struct FileMedium(
    /// The file.
    pub File,
);

impl Medium for FileMedium {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl<M: Medium + ?Sized> Medium for Box<M> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (**self).write(bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        (**self).sync_data()
    }
}
