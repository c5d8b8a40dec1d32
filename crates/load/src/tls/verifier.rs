//! Which certificates of a server are accepted. The check is that of rustls-webpki, with two additions: a self-signed
//! certificate that the user named is accepted from the server itself, as curl and OpenSSL do it (rustls-webpki refuses an
//! authority's certificate there), and the whole check can be switched off.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Accepts or refuses the certificate of a server.
#[derive(Debug)]
pub(super) struct Verifier {
    /// The usual check; none if any certificate is accepted.
    usual: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that a server may present as its own.
    pinned: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    pub(super) fn new(
        roots: RootCertStore,
        pinned: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Verifier, rustls::client::VerifierBuilderError> {
        let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Ok(Verifier { usual: Some(usual.build()?), pinned, provider: Arc::clone(provider) })
    }

    /// Accepts every certificate. Signatures are still checked, so that the handshake itself stays sound.
    pub(super) fn anything(provider: &Arc<CryptoProvider>) -> Verifier {
        Verifier { usual: None, pinned: Vec::new(), provider: Arc::clone(provider) }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(usual) = &self.usual else { return Ok(ServerCertVerified::assertion()) };
        let checked = usual.verify_server_cert(own, others, name, ocsp, now);
        let is_pinned = self.pinned.iter().any(|pinned| pinned.as_ref() == own.as_ref());
        match checked {
            Err(Error::InvalidCertificate(_)) if is_pinned => {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
