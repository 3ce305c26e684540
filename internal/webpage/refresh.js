// Replaces the elements with data-live by those of the same page as the server gives it now, every data-refresh seconds of the
// body, and with each event of its data-events. All pages work without this script.
"use strict";
(() => {
  const body = document.body, seconds = Number(body.dataset.refresh || 0), status = document.getElementById("fresh");
  let running = false, again = false, timer = 0, failed = false;

  // busy says that a person reads or writes within an element, which must not change under them.
  function busy(element) {
    if (element.contains(document.activeElement)) return true;
    const chosen = document.getSelection();
    return chosen && !chosen.isCollapsed && chosen.containsNode(element, true);
  }

  function replace(page) {
    for (const old of document.querySelectorAll("[data-live]")) {
      const next = page.getElementById(old.id);
      if (!next || next.innerHTML === old.innerHTML || busy(old)) continue;
      const atEnd = old.scrollTop + old.clientHeight >= old.scrollHeight - 4;
      old.replaceChildren(...document.adoptNode(next).childNodes);
      if (atEnd) old.scrollTop = old.scrollHeight;
    }
  }

  function say(text) {
    if (status && status.textContent !== text) status.textContent = text;
  }

  async function refresh() {
    if (running) { again = true; return; }
    running = true;
    clearTimeout(timer);
    try {
      if (!document.hidden) {
        const answer = await fetch(location.href, {redirect: "error", headers: {"Wasmres-Refresh": "1"}, signal: AbortSignal.timeout(20000)});
        if (!answer.ok) throw new Error(answer.statusText);
        replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
        failed = false;
        say("");
      }
    } catch {
      failed = true;
      say("The server does not answer, or you are signed out: what is shown may be old. Load the page again.");
    }
    running = false;
    if (again) { again = false; refresh(); return; }
    if (seconds) timer = setTimeout(refresh, (failed ? 5 : 1) * seconds * 1000);
  }

  // A field with data-complete gets suggestions for what is typed, from that URL.
  function complete(field) {
    let wait = 0, asked = 0;
    field.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(async () => {
        const number = ++asked, query = new URLSearchParams(new FormData(field.form));
        query.set("argument", field.name);
        try {
          const answer = await fetch(field.dataset.complete + "?" + query, {redirect: "error"});
          const values = answer.ok ? await answer.json() : [];
          if (number !== asked) return;
          field.list.replaceChildren(...values.map((value) => {
            const option = document.createElement("option");
            option.value = value;
            return option;
          }));
        } catch { /* there are no suggestions then */ }
      }, 150);
    });
  }

  document.querySelectorAll("input[data-complete]").forEach(complete);
  document.querySelectorAll("[data-live]").forEach((e) => { e.scrollTop = e.scrollHeight; });
  if (body.dataset.events) {
    const events = new EventSource(body.dataset.events);
    events.addEventListener("change", refresh);
    events.addEventListener("open", () => say(""));
    events.addEventListener("error", () => say("The server does not answer: what is shown may be old."));
  }
  if (seconds) {
    timer = setTimeout(refresh, seconds * 1000);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  }
})();
