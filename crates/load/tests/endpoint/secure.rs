//! TLS with an authority that exists only for the test.

use std::sync::Arc;

use assay_load::FaultKind;
use assay_load::arrivals::Arrivals;
use assay_load::calibration::{MockSchedule, Running, Server};
use assay_load::request::Endpoint;
use assay_load::run::Load;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

use super::support::{Numbered, perform};

/// An authority's certificate as text, and what a server needs that it vouches for.
fn authority() -> (String, ServerConfig) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let server_key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let server = CertificateParams::new(names).unwrap().signed_by(&server_key, &issuer).unwrap();
    let secret = PrivateKeyDer::try_from(server_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![server.der().clone()], secret)
        .unwrap();
    (pem(certificate.der()), config)
}

/// A certificate as text, which is base64 between two lines.
fn pem(der: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("-----BEGIN CERTIFICATE-----");
    for (place, three) in der.chunks(3).enumerate() {
        if place % 16 == 0 {
            text.push('\n');
        }
        let bits = (0..3).fold(0, |bits, byte| bits << 8 | u32::from(three.get(byte).copied().unwrap_or(0)));
        for letter in 0..4 {
            let known = letter <= three.len();
            text.push(if known { LETTERS[(bits >> (18 - 6 * letter)) as usize & 63].into() } else { '=' });
        }
    }
    text + "\n-----END CERTIFICATE-----\n"
}

fn start(config: ServerConfig, schedule: MockSchedule) -> Running {
    Server::bind("127.0.0.1:0", schedule).unwrap().with_tls(Arc::new(config)).start().unwrap()
}

#[test]
fn streams_come_through_tls() {
    let (trusted, config) = authority();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, trusted).unwrap();
    let server = start(config, MockSchedule { tokens: 50, split_events: true, ..MockSchedule::default() });
    let mut endpoint = Endpoint::new(server.url(), "m");
    endpoint.authority = Some(path);
    let mut load = Load::closed(endpoint, 4, 12);
    load.arrivals = Arrivals::Closed { streams: 4 };
    load.keep_answers = true;
    let (exchanges, outcome) = perform(&load, &Numbered);
    assert_eq!((exchanges.len(), outcome.health.connections), (12, 4));
    for exchange in &exchanges {
        assert_eq!((exchange.fault.as_ref(), exchange.usage.unwrap().output), (None, Some(50)));
        assert!(exchange.answer.as_deref().unwrap().contains("東京"));
    }
    let first = exchanges.iter().find(|one| one.connected_at_s.is_some()).unwrap();
    assert!(first.connected_at_s.unwrap() <= first.first_byte_at_s.unwrap());
    assert_eq!(server.stop().unwrap().answers, 12);
}

#[test]
fn a_long_stream_at_full_speed_comes_through_tls() {
    let (trusted, config) = authority();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, trusted).unwrap();
    let server =
        start(config, MockSchedule { tokens: 5000, events_per_write: 100, ..MockSchedule::instant() });
    let mut endpoint = Endpoint::new(server.url(), "m");
    endpoint.authority = Some(path);
    let (exchanges, _) = perform(&Load::closed(endpoint, 2, 4), &Numbered);
    assert_eq!(exchanges.len(), 4);
    for exchange in &exchanges {
        assert_eq!(
            (exchange.fault.as_ref(), exchange.usage.and_then(|usage| usage.output)),
            (None, Some(5000))
        );
    }
}

#[test]
fn an_unknown_authority_is_refused() {
    let (other, _) = authority();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, other).unwrap();
    let server = start(authority().1, MockSchedule::default());
    let mut endpoint = Endpoint::new(server.url(), "m");
    endpoint.authority = Some(path);
    let (exchanges, _) = perform(&Load::closed(endpoint, 1, 2), &Numbered);
    assert_eq!(exchanges.len(), 2);
    for exchange in exchanges {
        let fault = exchange.fault.unwrap();
        assert_eq!((fault.kind, fault.message.contains("trusted authority")), (FaultKind::Certificate, true));
    }
}

/// A certificate that vouches for itself, as `openssl req -x509` makes it.
fn self_signed() -> (String, ServerConfig) {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret)
        .unwrap();
    (pem(certificate.der()), config)
}

#[test]
fn a_self_signed_certificate_is_explained_accepted_by_name_or_not_checked() {
    let (own, config) = self_signed();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.pem");
    std::fs::write(&path, own).unwrap();
    let server = start(config, MockSchedule { tokens: 3, ..MockSchedule::default() });
    let fault = |endpoint: Endpoint| {
        let (exchanges, _) = perform(&Load::closed(endpoint, 1, 1), &Numbered);
        exchanges[0].fault.clone()
    };
    let plain = Endpoint::new(server.url(), "m");
    let refused = fault(plain.clone()).unwrap();
    assert_eq!(
        (refused.kind, refused.message.as_str()),
        (FaultKind::Certificate, "the server's certificate is self-signed")
    );
    assert_eq!(fault(Endpoint { authority: Some(path.clone()), ..plain.clone() }), None);
    assert_eq!(fault(Endpoint { insecure: true, ..plain.clone() }), None);
    // The certificate is not for this name, whoever vouches for it.
    let other_name = Endpoint::new(server.url().replace("127.0.0.1", "localhost"), "m");
    let refused = fault(Endpoint { authority: Some(path), ..other_name }).unwrap();
    assert_eq!(refused.kind, FaultKind::Certificate, "{refused}");
    assert!(refused.message.contains("another host name"), "{refused}");
}

#[test]
fn the_wrong_protocol_is_named_on_both_sides() {
    let secure = start(authority().1, MockSchedule::default());
    let url = secure.url().replace("https://", "http://");
    let (exchanges, _) = perform(&Load::closed(Endpoint::new(url, "m"), 1, 1), &Numbered);
    assert_eq!(exchanges[0].fault.as_ref().unwrap().kind, FaultKind::NotHttp);
    let plain = Server::bind("127.0.0.1:0", MockSchedule::default()).unwrap().start().unwrap();
    let mut load = Load::closed(Endpoint::new(plain.url().replace("http://", "https://"), "m"), 1, 1);
    // This server waits for the rest of what it takes for a head.
    load.connect_timeout = std::time::Duration::from_millis(200);
    let (exchanges, _) = perform(&load, &Numbered);
    assert_eq!(exchanges[0].fault.as_ref().unwrap().kind, FaultKind::NotTls);
}
