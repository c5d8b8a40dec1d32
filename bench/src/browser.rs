//! A headless Chromium, asked by the WebDriver protocol when it painted a page first.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

/// How long a page may take to be painted before it counts as broken.
const PATIENCE: Duration = Duration::from_secs(20);
/// Milliseconds from the start of the navigation to the first text or image on the screen; null before that.
const FIRST_PAINT: &str = "const found = performance.getEntriesByName('first-contentful-paint')[0]; \
                           return found ? found.startTime : null;";

/// A browser without a window; it ends with this.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts one; none where chromedriver is not installed.
    pub fn start() -> anyhow::Result<Option<Browser>> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = command.spawn() else { return Ok(None) };
        let lines = BufReader::new(driver.stdout.take().context("no output")?).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
        let mut browser = Browser { driver, port: port.unwrap_or_default(), session: String::new() };
        ensure!(browser.port != 0, "chromedriver names no port");
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        let options = json!({"browserName": "chrome", "goog:chromeOptions": {"args": arguments}});
        let wanted = json!({"capabilities": {"alwaysMatch": options}});
        let made = browser.request("POST", "/session", &wanted)?;
        made["sessionId"]
            .as_str()
            .context("chromedriver starts no browser")?
            .clone_into(&mut browser.session);
        Ok(Some(browser))
    }

    /// Opens a page and gives the milliseconds to its first paint.
    pub fn first_paint_ms(&self, url: &str) -> anyhow::Result<f64> {
        let session = format!("/session/{}", self.session);
        self.request("POST", &format!("{session}/url"), &json!({ "url": url }))?;
        let began = Instant::now();
        loop {
            let asked = json!({"script": FIRST_PAINT, "args": []});
            let answer = self.request("POST", &format!("{session}/execute/sync"), &asked)?;
            if let Some(painted) = answer.as_f64() {
                return Ok(painted);
            }
            ensure!(began.elapsed() < PATIENCE, "{url} was never painted: {answer}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            ensure!(reader.read_line(&mut line)? > 0, "chromedriver ended its answer early");
            if let Some((_, value)) = line.to_lowercase().split_once("content-length:") {
                length = value.trim().parse()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        let answer: Value = serde_json::from_slice(&answer)?;
        Ok(answer["value"].clone())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // The browser ends with its session; where that fails, with its driver.
            let _ = self.request("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
