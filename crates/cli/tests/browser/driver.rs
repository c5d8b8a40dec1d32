//! As much of the WebDriver protocol as the tests need. A client library would bring over a hundred crates for these few
//! requests to a local process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser without a window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts one; none where it is not installed.
    pub fn start() -> Option<Browser> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
        let mut browser =
            Browser { driver, port: port.expect("chromedriver names its port"), session: String::new() };
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let made = browser.request("POST", "/session", Some(wanted));
        browser.session = made["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    fn request(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some((_, value)) = line.to_lowercase().split_once("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        answer["value"].clone()
    }

    fn of_session(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.request(method, &format!("/session/{}{path}", self.session), body)
    }

    pub fn open(&self, url: &str) {
        self.of_session("POST", "/url", Some(json!({ "url": url })));
    }

    /// Clicks on the first element that a selector finds.
    pub fn click(&self, selector: &str) {
        let found =
            self.of_session("POST", "/element", Some(json!({"using": "css selector", "value": selector})));
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        let id = id.unwrap_or_else(|| panic!("no element {selector}: {found}"));
        let clicked = self.of_session("POST", &format!("/element/{id}/click"), Some(json!({})));
        assert!(clicked.is_null(), "{selector}: {clicked}");
    }

    /// What a script gives back.
    pub fn script(&self, script: &str) -> Value {
        self.of_session("POST", "/execute/sync", Some(json!({"script": script, "args": []})))
    }

    /// Waits until a script gives true.
    pub fn wait_for(&self, script: &str) {
        let start = Instant::now();
        while self.script(script) != Value::Bool(true) {
            assert!(start.elapsed() < Duration::from_secs(30), "{script} did not become true");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn resize(&self, width: u32, height: u32) {
        self.of_session("POST", "/window/rect", Some(json!({"width": width, "height": height})));
    }

    /// Light or dark, screen or paper.
    pub fn media(&self, media: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let parameters = json!({"media": media, "features": features});
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": parameters});
        self.of_session("POST", "/goog/cdp/execute", Some(command));
    }

    /// A picture of the page, as base64.
    pub fn picture(&self) -> String {
        let command = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}});
        let taken = self.of_session("POST", "/goog/cdp/execute", Some(command));
        taken["data"].as_str().expect("a picture").to_owned()
    }

    /// What the console complained about.
    pub fn complaints(&self) -> Vec<String> {
        let logged = self.of_session("POST", "/se/log", Some(json!({"type": "browser"})));
        let entries = logged.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.of_session("DELETE", "", None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
