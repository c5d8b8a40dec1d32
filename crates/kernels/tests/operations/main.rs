//! Every operation against a plain version in double precision, its backward pass against finite differences of that
//! version, on every instruction set of this machine, with one and with several threads, and twice
//! each: the same bits must come out.

mod attention;
mod element_wise;
mod images;
mod loss;
mod norms;
mod optimisers;
mod packed;
mod positions;
mod support;
mod whole_buffers;
