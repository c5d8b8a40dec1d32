//! `internal`: what runs and tests call. Scripts of earlier records call `assay work` and `assay exercise`, which mean
//! the same.

mod exercise;
mod work;

use crate::exit::Exit;
use crate::options::{Internal, InternalVerb};
use crate::screen::Screen;

pub fn internal(options: &Internal, screen: &mut Screen) -> anyhow::Result<Exit> {
    match &options.verb {
        InternalVerb::Work(options) => work::work(options, screen),
        InternalVerb::Exercise(options) => exercise::exercise(options, screen),
    }
}
