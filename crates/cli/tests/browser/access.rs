//! What keyboards and screen readers need: names, one heading, marked header cells, and letters that stand out from what is
//! behind them.

use super::driver::Browser;

/// What is missing on the page that is open, as sentences.
const CHECK: &str = r#"
const missing = [];
const say = (what, element) => missing.push(what + ": " + (element ? element.outerHTML.slice(0, 160) : ""));
const all = (selector) => [...document.querySelectorAll(selector)];
if (!document.documentElement.lang) say("no language");
if (all("h1").length !== 1) say("not one h1 but " + all("h1").length);
if (all("main").length !== 1) say("not one main");
const ids = all("[id]").map((one) => one.id);
ids.forEach((id, index) => { if (ids.indexOf(id) !== index) say("id twice " + id); });
for (const one of all("input:not([type=hidden]), select, textarea"))
  if (!one.labels?.length && !one.getAttribute("aria-label")) say("no label", one);
for (const one of all("a, button, summary")) if (!one.textContent.trim() && !one.getAttribute("aria-label")) say("no name", one);
for (const one of all("th")) if (!one.scope) say("no scope", one);
for (const one of all("svg")) if (!one.querySelector("title") && !one.getAttribute("aria-label")) say("no title", one);
for (const one of all("[tabindex]")) if (one.tabIndex > 0) say("focus out of order", one);
const color = (text) => { const parts = text.match(/[\d.]+/g).map(Number); return { rgb: parts.slice(0, 3), alpha: parts[3] ?? 1 }; };
const light = (rgb) => {
  const [r, g, b] = rgb.map((one) => { const c = one / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const found = color(getComputedStyle(one).backgroundColor);
    if (found.alpha > 0.99) return found.rgb;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
};
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const reported = new Set();
while (walk.nextNode()) {
  const element = walk.currentNode.parentElement;
  const style = getComputedStyle(element);
  const inside = element.closest("svg");
  // Letters on a bar or a cell of a heat map stand on that, not on the page.
  if (!walk.currentNode.data.trim() || !element.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) || element.classList.contains("inside")) continue;
  if (["TITLE", "STYLE", "SCRIPT"].includes(element.tagName.toUpperCase())) continue;
  const front = color(inside ? style.fill : style.color);
  const [a, b] = [light(front.rgb), light(behind(element))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const name = element.tagName + "." + element.getAttribute("class");
  if (ratio < 4.5 && !reported.has(name)) { reported.add(name); say("contrast " + ratio.toFixed(2), element); }
}
return missing.join("\n");
"#;

/// Checks the page that is open, light and dark.
pub fn check(browser: &Browser, view: &str) {
    for scheme in ["light", "dark"] {
        browser.media("screen", scheme);
        let missing = browser.script(CHECK);
        assert_eq!(missing.as_str(), Some(""), "{view}, {scheme}");
    }
    browser.media("screen", "light");
}
