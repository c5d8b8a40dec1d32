//! What went wrong with TLS, in the words of a network engineer.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustls::{CertificateError, Error, InvalidMessage};

use crate::fault::{Fault, FaultKind};

/// How long a port may take to show what it speaks.
const PATIENCE: Duration = Duration::from_millis(500);

/// The fault of a handshake that failed.
pub(crate) fn handshake_fault(error: &io::Error) -> Fault {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidCertificate(why)) => Fault::new(FaultKind::Certificate, certificate(why)),
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            Fault::new(FaultKind::NotTls, "the server answered the TLS handshake with something else")
        }
        Some(other) => Fault::new(FaultKind::Tls, other.to_string()),
        None => {
            Fault::new(FaultKind::Tls, format!("the connection broke off during the TLS handshake: {error}"))
        }
    }
}

fn certificate(why: &CertificateError) -> String {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the server's certificate is not signed by a trusted authority".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for another host name".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; check the clocks of both machines".to_owned()
        }
        CertificateError::Revoked => "the server's certificate was revoked".to_owned(),
        // rustls-webpki has no variant of its own for this.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "the server's certificate is self-signed".to_owned()
        }
        other => format!("the server's certificate is not valid: {other}"),
    }
}

/// Whether a port speaks the other one of HTTP and TLS, by trying: what a server makes of the wrong protocol differs from
/// silence to an error page, so that no answer to a request says it for certain.
pub(crate) fn other_protocol(address: SocketAddr, is_secure: bool) -> Option<Fault> {
    match is_secure {
        true => {
            let answer = first_bytes(address, b"GET / HTTP/1.0\r\n\r\n")?;
            let fault =
                Fault::new(FaultKind::NotTls, "the port speaks plain HTTP, and the URL begins with https://");
            answer.starts_with(b"HTTP/").then_some(fault)
        }
        false => {
            let answer = first_bytes(address, CLIENT_HELLO)?;
            let fault =
                Fault::new(FaultKind::NotHttp, "the port speaks TLS, and the URL begins with http://");
            // A handshake or an alert, of any version.
            matches!(answer.as_slice(), [0x16 | 0x15, 0x03, ..]).then_some(fault)
        }
    }
}

/// The smallest hello of TLS 1.2: one cipher suite and no extension. Whoever speaks TLS answers with a handshake or an alert.
const CLIENT_HELLO: &[u8] = &[
    0x16, 0x03, 0x01, 0x00, 0x2d, 0x01, 0x00, 0x00, 0x29, 0x03, 0x03, // record, handshake and version
    0x61, 0x73, 0x73, 0x61, 0x79, 0x20, 0x61, 0x73, 0x6b, 0x73, 0x20, 0x77, 0x68, 0x61, 0x74,
    0x20, // 32 bytes
    0x74, 0x68, 0x69, 0x73, 0x20, 0x70, 0x6f, 0x72, 0x74, 0x20, 0x73, 0x70, 0x65, 0x61, 0x6b,
    0x73, // of their own
    0x00, 0x00, 0x02, 0xc0, 0x2f, 0x01, 0x00, // no session, one suite, no compression
];

fn first_bytes(address: SocketAddr, question: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(question).ok()?;
    let mut bytes = vec![0; 16];
    let count = stream.read(&mut bytes).ok()?;
    bytes.truncate(count);
    Some(bytes)
}
