//! The parts that read a server's or a client's bytes, for the fuzz targets. Each panics if the bytes make it do what it
//! must never do.

use crate::answer::PartialAnswer;
use crate::calibration;
use crate::connection::chunks::Chunks;
use crate::fault::FaultKind;
use crate::record::Exchange;
use crate::sse::scan;

/// The data of an event, and whether it is an error.
type Found = (Vec<u8>, bool);

/// Events of a stream, and what they make an answer. How the bytes are cut must not change what is found.
pub fn stream(bytes: &[u8], cut: usize) {
    let (first, second) = bytes.split_at(cut.min(bytes.len()));
    let mut whole: Vec<Found> = Vec::new();
    let mut answer = PartialAnswer::new(true);
    let done = scan(bytes, true, |event| {
        answer.event(&event, whole.len() as i64);
        whole.push((event.data.to_vec(), event.is_error));
    });
    assert_eq!(done, bytes.len());
    let mut pieces: Vec<Found> = Vec::new();
    let done = scan(first, false, |event| pieces.push((event.data.to_vec(), event.is_error)));
    assert!(done <= first.len());
    let rest = [first.get(done..).unwrap_or_default(), second].concat();
    scan(&rest, true, |event| pieces.push((event.data.to_vec(), event.is_error)));
    assert_eq!(whole, pieces, "cut at {cut}");
    conclude(answer);
}

/// A whole answer, as a success and as a refusal.
pub fn answer(bytes: &[u8]) {
    let mut success = PartialAnswer::new(true);
    success.whole(bytes, 1);
    conclude(success);
    let mut refusal = PartialAnswer::new(false);
    refusal.refused(FaultKind::TooLarge, 500, bytes, None);
    conclude(refusal);
}

fn conclude(answer: PartialAnswer) {
    let mut exchange = Exchange::default();
    answer.finish(&mut exchange, true);
    let times = [exchange.first_token_at_s, exchange.first_output_at_s, exchange.last_token_at_s];
    assert!(times.into_iter().flatten().all(f64::is_finite));
    let message = exchange.fault.as_ref().map_or(0, |fault| fault.message.len());
    assert!(message < 4096, "a server's text is kept in full");
}

/// The chunks of a body. How the bytes are cut must not change what comes out.
pub fn chunks(bytes: &[u8], cut: usize) {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let (first, second) = bytes.split_at(cut.min(bytes.len()));
    let read = |pieces: &[&[u8]]| {
        let mut chunks = Chunks::default();
        let mut taken = Vec::new();
        assert_eq!(chunks.left_for_hyper(HEAD), HEAD);
        for piece in pieces {
            if chunks.are_read_here() {
                chunks.take(piece, &mut taken);
            }
        }
        taken
    };
    let whole = read(&[bytes]);
    assert!(whole.len() <= bytes.len());
    assert_eq!(whole, read(&[first, second]), "cut at {cut}");
    let mut chunks = Chunks::default();
    let left = chunks.left_for_hyper(bytes);
    assert!(left.len() <= bytes.len());
}

/// A request to the calibration endpoint.
pub fn request(bytes: &[u8]) {
    if let Some(used) = calibration::request::used(bytes) {
        assert!(used > 0 && used <= bytes.len());
    }
}
