//! TLS with an authority that exists only for the test.

use std::sync::Arc;

use assay_load::FaultKind;
use assay_load::arrivals::Arrivals;
use assay_load::calibration::{Running, Schedule, Server};
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

fn start(config: ServerConfig, schedule: Schedule) -> Running {
    Server::bind("127.0.0.1:0", schedule).unwrap().with_tls(Arc::new(config)).start().unwrap()
}

#[test]
fn streams_come_through_tls() {
    let (trusted, config) = authority();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, trusted).unwrap();
    let server = start(config, Schedule { tokens: 50, split_events: true, ..Schedule::default() });
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
    let server = start(config, Schedule { tokens: 5000, events_per_write: 100, ..Schedule::instant() });
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
    let server = start(authority().1, Schedule::default());
    let mut endpoint = Endpoint::new(server.url(), "m");
    endpoint.authority = Some(path);
    let (exchanges, _) = perform(&Load::closed(endpoint, 1, 2), &Numbered);
    assert_eq!(exchanges.len(), 2);
    for exchange in exchanges {
        assert_eq!(exchange.fault.unwrap().kind, FaultKind::Tls);
    }
}
