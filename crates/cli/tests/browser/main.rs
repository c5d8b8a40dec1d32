//! The page in a real browser: clicks, live updates, hostile log lines, light, dark, narrow and on paper.
//!
//! `ASSAY_PICTURES=directory` keeps the pictures, to look at them.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on should stop, and one that is skipped says so"
)]

mod access;
mod driver;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use driver::Browser;

const CAMPAIGN: &str = r#"
name = "NAME"
question = "Is <b>this</b> \"text\"?"
[workload]
command = '''printf '<script>window.hacked = 1</script> \033[31mred\033[0m \342\200\256gpj.exe\nrate={size}0 samples/s\n' && sleep PAUSE'''
[vary]
size = [1, 2, 3]
[repeats]
at_least = 6
[read]
headline = "rate"
[[read.metric]]
name = "rate"
unit = "samples/s"
"#;

fn assay(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Ends a process when a test ends, however it ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn picture(browser: &Browser, name: &str) {
    let data = browser.picture();
    assert!(data.len() > 10_000, "{name} is an empty picture");
    if let Some(directory) = std::env::var_os("ASSAY_PICTURES") {
        std::fs::write(Path::new(&directory).join(format!("{name}.png.base64")), data).unwrap();
    }
}

fn write_campaign(directory: &Path, name: &str, pause: &str) {
    let text = CAMPAIGN.replace("NAME", name).replace("PAUSE", pause);
    std::fs::write(directory.join(format!("{name}.toml")), text).unwrap();
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        assert!(std::env::var_os("ASSAY_NEEDS_BROWSER").is_none(), "chromedriver is not installed");
        eprintln!("skipped: chromedriver is not installed, so the page was not opened in a browser");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    for name in ["first", "second"] {
        write_campaign(place, name, "0");
        assert!(
            assay(place, &["run", &format!("{name}.toml"), "-q"])
                .stdout(Stdio::null())
                .status()
                .unwrap()
                .success()
        );
    }
    std::fs::write(place.join("it's \"quoted\" <i>.md"), "The rate is 5.\n").unwrap();
    let mut page = assay(place, &["page", ".", "it's \"quoted\" <i>.md", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(page.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let (_page, url) = (Ended(page), url.trim());

    browser.resize(1200, 900);
    browser.open(url);
    picture(&browser, "records");
    access::check(&browser, "records");
    keyboard(&browser);
    browser.click("td a[href*='first']");
    browser.wait_for("return document.querySelector('h1').textContent === 'first'");
    popover(&browser);
    for (name, media, scheme) in
        [("light", "screen", "light"), ("dark", "screen", "dark"), ("print", "print", "light")]
    {
        browser.media(media, scheme);
        picture(&browser, name);
    }
    access::check(&browser, "record");
    log(&browser, url);
    browser.open(url);
    browser.click("input[value='records/first']");
    browser.click("input[value='records/second']");
    browser.click("form[action='/compare'] button");
    browser.wait_for("return document.querySelector('h1').textContent.startsWith('Compare')");
    metric_choice(&browser);
    browser.resize(420, 900);
    browser.wait_for("return document.documentElement.scrollWidth <= window.innerWidth + 1");
    picture(&browser, "narrow");
    for view in ["history?name=first", "audit?file=0", "report?id=records%2Ffirst", "runs?id=records%2Ffirst"]
    {
        browser.open(&format!("{url}{view}"));
        browser.wait_for("return document.querySelector('h1') !== null");
        access::check(&browser, view);
    }
    live(&browser, url, place);
    live_load(&browser, url, place);
    let foreign =
        "return performance.getEntriesByType('resource').every(e => e.name.startsWith(location.origin))";
    browser.wait_for(foreign);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// What is compared can be judged by another metric that the records have.
fn metric_choice(browser: &Browser) {
    browser.script("document.querySelector('select[name=metric]').value = 'duration.wall'");
    browser.click("form[action='/compare'] button");
    browser.wait_for("return location.search.includes('metric=duration.wall')");
    let text = browser.script("return document.querySelector('main').textContent").to_string();
    assert!(text.contains("duration.wall (lower is better)"), "{text}");
}

/// A number opens what it rests on.
fn popover(browser: &Browser) {
    browser.click("button.about");
    browser.wait_for("return document.querySelector(':popover-open') !== null");
    let text = browser.script("return document.querySelector(':popover-open').textContent").to_string();
    for part in ["interval", "6 runs", "run.sh"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    browser.script("document.querySelector(':popover-open').hidePopover()");
}

/// From a number to the line that states it; what a log says is shown and never obeyed.
fn log(browser: &Browser, url: &str) {
    browser.open(&format!("{url}runs?id=records%2Ffirst"));
    browser.click("td a[href^='/run?']");
    browser.wait_for("return document.querySelector('#numbers') !== null");
    browser.click("td a[href*='line=2']");
    browser.wait_for("return document.querySelector('.row.target') !== null");
    let target = browser.script("return document.querySelector('.row.target').textContent").to_string();
    assert!(target.contains("rate="), "{target}");
    let first = browser.script("return document.querySelector('#L1 span').textContent").to_string();
    assert!(first.contains("<script>") && !first.contains(['\u{1b}', '\u{202e}']), "{first}");
    assert!(browser.script("return window.hacked === undefined").as_bool().unwrap());
    picture(browser, "log");
    access::check(browser, "log");
}

/// The page follows a record that another process writes.
fn live(browser: &Browser, url: &str, place: &Path) {
    browser.resize(1200, 900);
    write_campaign(place, "growing", "0.3");
    let runs = assay(place, &["run", "growing.toml", "-q"]).stdout(Stdio::null()).spawn().unwrap();
    let _runs = Ended(runs);
    let journal = place.join("records/growing/journal.jsonl");
    let start = std::time::Instant::now();
    while !journal.is_file() && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    browser.open(&format!("{url}record?id=records%2Fgrowing"));
    browser.wait_for("return Number(document.querySelector('#live').dataset.updates || 0) >= 3");
    browser.wait_for("return /[3-9] succeeded/.test(document.querySelector('.state').textContent)");
}

/// Whoever has no mouse gets past the header first, and a slash leads to the filter.
fn keyboard(browser: &Browser) {
    let first =
        "const all = document.querySelectorAll('a, button, input, select'); return all[0].textContent";
    assert_eq!(browser.script(first).as_str(), Some("Skip to content"));
    browser.script("document.dispatchEvent(new KeyboardEvent('keydown', { key: '/' }))");
    browser.wait_for("return document.activeElement.type === 'search'");
    browser.script("document.activeElement.blur()");
}

/// The percentiles of a load change while it runs.
fn live_load(browser: &Browser, url: &str, place: &Path) {
    let arguments = ["load", "--mock", "slots=4,itl=5ms,tokens=10", "--streams", "2", "--duration", "30s"];
    let load = assay(place, &[&arguments[..], &["--record", "records/load", "-q"]].concat());
    let _load = Ended({ load }.stdout(Stdio::null()).spawn().unwrap());
    let journal = place.join("records/load/journal.jsonl");
    let start = std::time::Instant::now();
    while !journal.is_file() && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    browser.open(&format!("{url}record?id=records%2Fload"));
    browser.wait_for("return /ttft/.test(document.querySelector('#running').textContent)");
    let count = "return Number(document.querySelector('#running tbody td.number').textContent)";
    let before = browser.script(count).as_f64().unwrap();
    browser.wait_for(&format!("{count} > {before}"));
    let text = browser.script("return document.querySelector('#running').textContent").to_string();
    for part in ["Open runs", "p99", "e2e", "requests", "tokens/s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    picture(browser, "load");
    access::check(browser, "load");
}
