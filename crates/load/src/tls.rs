//! TLS by rustls. The certificates of the system are trusted, and those of a file if one is given.
//!
//! | file | holds |
//! |---|---|
//! | `tls/verifier.rs` | which certificates of a server are accepted |
//! | `tls/diagnosis.rs` | what went wrong, and whether a port speaks TLS at all |

mod diagnosis;
mod verifier;

pub(crate) use diagnosis::{handshake_fault, other_protocol};

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::socket::{Received, Socket};
use verifier::Verifier;

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of certificates cannot be read.
    #[error("the certificates in {} cannot be read: {reason}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// There is nothing to trust.
    #[error("no trusted certificates: this system has none in the usual places")]
    NothingToTrust,
    /// The library refuses.
    #[error("TLS cannot be set up")]
    Library(#[from] rustls::Error),
    /// The certificates cannot be used.
    #[error("the trusted certificates cannot be used: {0}")]
    Verifier(#[from] rustls::client::VerifierBuilderError),
    /// A host name that cannot stand in a certificate.
    #[error("`{0}` is not a valid host name for a certificate")]
    Name(String),
}

/// What connections to one host need.
#[derive(Debug, Clone)]
pub(crate) struct Trust {
    settings: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Trust {
    /// Trusts the system's certificates, and those of `own` if it is given; any certificate if `is_insecure`.
    pub(crate) fn new(host: &str, own: Option<&Path>, is_insecure: bool) -> Result<Trust, TlsError> {
        let mut roots = RootCertStore::empty();
        let mut pinned = Vec::new();
        if let Some(path) = own {
            let unreadable = |reason: String| TlsError::Certificates { path: path.to_owned(), reason };
            pinned = add(&mut roots, path).map_err(unreadable)?;
        }
        // A certificate of the system that cannot be read is not a loss while others can.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() && !is_insecure {
            return Err(TlsError::NothingToTrust);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = match is_insecure {
            true => Verifier::anything(&provider),
            false => Verifier::new(roots, pinned, &provider)?,
        };
        let settings = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare).map_err(|_| TlsError::Name(host.to_owned()))?;
        Ok(Trust { settings: Arc::new(settings), name })
    }

    /// A connection whose handshake has not begun.
    pub(crate) fn connection(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.settings), self.name.clone())
    }
}

/// Adds the certificates of a file to those that are trusted, and gives them.
fn add(roots: &mut RootCertStore, path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let usable = |certificate: &CertificateDer<'static>| roots.add(certificate.clone()).is_ok();
    let added: Vec<CertificateDer<'static>> = certificates.flatten().filter(usable).collect();
    if added.is_empty() { Err("it contains no certificate".to_owned()) } else { Ok(added) }
}

/// A secure channel over a socket.
pub(crate) struct Channel {
    tls: ClientConnection,
    /// What was deciphered and not taken yet, and how much of it has been taken since. The library itself refuses to
    /// hold more than a record or two.
    plain: Vec<u8>,
    taken: usize,
}

impl Channel {
    /// A channel whose handshake has not begun.
    pub(crate) fn new(trust: &Trust) -> Result<Channel, rustls::Error> {
        Ok(Channel { tls: trust.connection()?, plain: Vec::new(), taken: 0 })
    }

    /// Whether the channel is not secure yet.
    pub(crate) fn is_shaking_hands(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// Reads once from the socket and takes in what came.
    pub(crate) fn feed(&mut self, socket: &Socket, scratch: &mut [u8]) -> io::Result<Received> {
        let received = socket.read(scratch)?;
        let mut rest = &scratch[..received.bytes];
        if rest.is_empty() {
            // Signals the end of the stream to the library.
            self.tls.read_tls(&mut rest)?;
        }
        while !rest.is_empty() {
            self.tls.read_tls(&mut rest)?;
            let state = self
                .tls
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            let from = self.plain.len();
            self.plain.resize(from + state.plaintext_bytes_to_read(), 0);
            self.tls.reader().read_exact(&mut self.plain[from..])?;
        }
        Ok(received)
    }

    /// Takes bytes that have arrived and been deciphered. `WouldBlock` if there are none, 0 at a proper end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let waiting = &self.plain[self.taken..];
        if waiting.is_empty() {
            return self.tls.reader().read(buffer);
        }
        let count = waiting.len().min(buffer.len());
        buffer[..count].copy_from_slice(&waiting[..count]);
        self.taken += count;
        if self.taken == self.plain.len() {
            self.plain.clear();
            self.taken = 0;
        }
        Ok(count)
    }

    /// Takes bytes to send; [`Channel::flush`] sends them.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tls.writer().write(bytes)
    }

    /// Sends what waits to be sent. `WouldBlock` if something is left.
    pub(crate) fn flush(&mut self, socket: &Socket) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut Sending(socket))?;
        }
        Ok(())
    }

    /// Says that nothing more will be sent.
    pub(crate) fn close(&mut self) {
        self.tls.send_close_notify();
    }
}

/// A socket as something to write to.
pub(crate) struct Sending<'a>(pub(crate) &'a Socket);

impl Write for Sending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Trust::new("localhost", Some(file.path()), false).unwrap_err();
        assert!(error.to_string().contains("no certificate"), "{error}");
        let missing = Trust::new("localhost", Some(Path::new("/nowhere/ca.pem")), false).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/ca.pem"), "{missing}");
    }
}
