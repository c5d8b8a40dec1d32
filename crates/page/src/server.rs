//! Sockets: hyper reads and writes HTTP, views are made on threads that may wait for a disk.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

use crate::live;
use crate::respond::{Reply, respond};
use crate::site::Site;

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("cannot start the server: {0}")]
    Start(std::io::Error),
}

/// Connections that are served at once; more wait.
const MOST_CONNECTIONS: usize = 256;
/// Readers that follow records at once, each with a thread of its own.
const MOST_FOLLOWERS: usize = 64;
/// How often to look whether to stop.
const STOP_PERIOD: Duration = Duration::from_millis(200);
/// A request must have arrived after this time.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// How long a reader may leave an answer untaken, in milliseconds.
const UNTAKEN_MS: u32 = 10_000;

/// A page that listens.
pub struct Server {
    listener: std::net::TcpListener,
    site: Arc<Site>,
}

impl Server {
    /// Binds an address. Port 0 takes a free one.
    pub fn bind(address: SocketAddr, site: Site) -> Result<Server, PageError> {
        let listener =
            std::net::TcpListener::bind(address).map_err(|source| PageError::Listen { address, source })?;
        listener.set_nonblocking(true).map_err(PageError::Start)?;
        Ok(Server { listener, site: Arc::new(site) })
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the flag is set.
    pub fn run(self, stop: &AtomicBool) -> Result<(), PageError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(MOST_FOLLOWERS + 16)
            .enable_io()
            .enable_time()
            .build()
            .map_err(PageError::Start)?;
        let site = Arc::clone(&self.site);
        // Thousands of records take seconds to read, so that is begun before anybody filters them.
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        runtime.spawn_blocking(move || site.catalog.read_all(&site.root, &|| over.load(Ordering::Relaxed)));
        let served = runtime.block_on(serve(self.listener, self.site, stop));
        is_over.store(true, Ordering::Relaxed);
        runtime.shutdown_timeout(Duration::from_millis(100));
        served
    }
}

async fn serve(listener: std::net::TcpListener, site: Arc<Site>, stop: &AtomicBool) -> Result<(), PageError> {
    let listener = TcpListener::from_std(listener).map_err(PageError::Start)?;
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let followers = Arc::new(Semaphore::new(MOST_FOLLOWERS));
    while !stop.load(Ordering::Relaxed) {
        // Neither wait may outlast a request to stop.
        let permit = tokio::time::timeout(STOP_PERIOD, Arc::clone(&connections).acquire_owned());
        let Ok(Ok(permit)) = permit.await else { continue };
        let Ok(accepted) = tokio::time::timeout(STOP_PERIOD, listener.accept()).await else {
            continue;
        };
        let Ok((stream, _)) = accepted else {
            // A connection that failed before it was accepted is no reason to stop, but without file descriptors every
            // attempt fails at once.
            tokio::time::sleep(STOP_PERIOD).await;
            continue;
        };
        // Whoever does not take its answer loses the connection: others wait for a free one.
        let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, UNTAKEN_MS);
        let (site, followers) = (Arc::clone(&site), Arc::clone(&followers));
        tokio::spawn(async move {
            let service = service_fn(|request: Request<Incoming>| {
                answer(Arc::clone(&site), Arc::clone(&followers), request)
            });
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME).max_buf_size(64 * 1024);
            // A reader who leaves in the middle is not a fault of ours.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
    Ok(())
}

async fn answer(
    site: Arc<Site>,
    followers: Arc<Semaphore>,
    request: Request<Incoming>,
) -> Result<Response<PageBody>, Infallible> {
    let (parts, _) = request.into_parts();
    let is_head = parts.method == Method::HEAD;
    let asked = Arc::clone(&site);
    let made =
        tokio::task::spawn_blocking(move || respond(&asked, &parts.method, &parts.uri, &parts.headers));
    let Ok(reply) = made.await else { return Ok(plain(StatusCode::INTERNAL_SERVER_ERROR)) };
    Ok(match reply {
        Reply::Page { status, kind, text, policy } => {
            let body = if is_head { String::new() } else { text };
            let mut response = with_headers(Response::new(PageBody::Whole(Some(body.into()))), kind, policy);
            *response.status_mut() = status;
            response
        }
        Reply::Elsewhere { to, cookie } => {
            let mut response = plain(StatusCode::SEE_OTHER);
            let headers = response.headers_mut();
            headers.extend(HeaderValue::from_str(&to).ok().map(|to| (header::LOCATION, to)));
            headers.extend(HeaderValue::from_str(&cookie).ok().map(|cookie| (header::SET_COOKIE, cookie)));
            response
        }
        Reply::Live { id, seen } => {
            let Ok(permit) = followers.try_acquire_owned() else {
                return Ok(plain(StatusCode::SERVICE_UNAVAILABLE));
            };
            let (sender, receiver) = mpsc::channel(4);
            tokio::task::spawn_blocking(move || {
                live::follow(&site, &id, seen, &sender);
                drop(permit);
            });
            with_headers(Response::new(PageBody::Live(receiver)), "text/event-stream", crate::respond::POLICY)
        }
    })
}

fn plain(status: StatusCode) -> Response<PageBody> {
    let mut response =
        with_headers(Response::new(PageBody::Whole(None)), "text/plain", crate::respond::POLICY);
    *response.status_mut() = status;
    response
}

fn with_headers(
    mut response: Response<PageBody>,
    kind: &'static str,
    policy: &'static str,
) -> Response<PageBody> {
    let fixed = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// What is sent: a whole page, or events as they come.
enum PageBody {
    Whole(Option<Bytes>),
    Live(mpsc::Receiver<Bytes>),
}

impl Body for PageBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            PageBody::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            PageBody::Live(receiver) => {
                receiver.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, PageBody::Whole(None))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self {
            PageBody::Whole(bytes) => {
                http_body::SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            PageBody::Live(_) => http_body::SizeHint::default(),
        }
    }
}
