"use strict";
// A record while it runs: the server sends its answer anew whenever the journal grows.
const live = document.querySelector("[data-live]");
if (live && window.EventSource) {
  const source = new EventSource(live.dataset.live);
  source.addEventListener("record", (event) => {
    // What the reader opened stays open.
    if (document.querySelector(":popover-open")) return;
    const open = [...live.querySelectorAll("details")].map((one) => one.open);
    // The text comes from the same templates as the page, with everything escaped.
    live.innerHTML = event.data;
    live.querySelectorAll("details").forEach((one, index) => { one.open = open[index] === true; });
    live.dataset.updates = String(Number(live.dataset.updates || 0) + 1);
  });
  source.addEventListener("running", (event) => {
    const running = document.querySelector("#running");
    running.innerHTML = event.data;
    running.dataset.updates = String(Number(running.dataset.updates || 0) + 1);
  });
  window.addEventListener("pagehide", () => source.close());
}
// A slash puts the cursor into the filter.
const filter = document.querySelector("input[type=search]");
if (filter) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== filter) { event.preventDefault(); filter.focus(); }
  });
}
