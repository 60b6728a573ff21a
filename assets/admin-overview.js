// Overview of the dashboard: fetches the figures again and again, without a reload.

const live = document.querySelector('#live');
const status = document.querySelector('#live-status');
const pause = document.querySelector('#pause');
const everyMs = Number(live.dataset.seconds) * 1000;

/** Maximum time in milliseconds that the page waits for an answer. */
const timeoutMs = 15_000;

let timer;
let isPaused = false;
let updatedAt = new Date();
let running = null;

/** Schedules the next refresh. Hidden tabs and paused pages do not refresh. */
function schedule() {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, everyMs);
}

async function refresh() {
  if (running !== null) return;
  running = new AbortController();
  try {
    await fetchFigures(AbortSignal.any([running.signal, AbortSignal.timeout(timeoutMs)]));
  } catch {
    if (!running.signal.aborted)
      say(`The server does not answer. ${ageOf()} The page tries again.`);
  }
  running = null;
  schedule();
}

async function fetchFigures(signal) {
  const answer = await fetch(live.dataset.part, {
    signal,
    headers: { accept: 'application/json' },
  });
  if (answer.status === 401) return end();
  if (!answer.ok) {
    say(
      `The server has answered with an error (status ${answer.status}). ${ageOf()} The page tries again.`,
    );
    return;
  }
  const { html } = await answer.json();
  // The page may have been paused in the meantime.
  if (signal.aborted) return;
  replaceFigures(html);
  updatedAt = new Date();
  say('');
}

const ageOf = () => `These figures are from ${updatedAt.toLocaleTimeString()}.`;

/** Shows a message below the title, and marks old figures. Does nothing if the message is already shown. */
function say(text) {
  live.classList.toggle('old', text !== '');
  if (status.textContent !== text) status.textContent = text;
}

/** Replaces the figures. Keeps tables open, and keeps the focus on the same element. */
function replaceFigures(html) {
  const open = [...live.querySelectorAll('details[open]')].map(({ id }) => id);
  const focused = live.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  live.innerHTML = html;
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  if (focused !== null) live.querySelector(focused)?.focus({ preventScroll: true });
}

/** Returns a selector of the element that can have the focus: a link, or the switch of a table. */
function placeOf(element) {
  const table = element.closest('details')?.id;
  return table
    ? `#${table} > summary`
    : `a[href="${CSS.escape(element.getAttribute('href') ?? '')}"]`;
}

/** Ends the updates after the session has ended. */
function end() {
  isPaused = true;
  pause.hidden = true;
  say(`Your session has ended. ${ageOf()} `);
  const again = document.createElement('a');
  again.href = location.pathname;
  again.textContent = 'Sign in again';
  status.append(again);
}

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.textContent = isPaused ? 'Resume updates' : 'Pause updates';
  if (isPaused) {
    running?.abort();
    clearTimeout(timer);
    say(`Updates are paused. ${ageOf()}`);
  } else void refresh();
});

document.addEventListener('visibilitychange', () => {
  if (document.hidden) clearTimeout(timer);
  else if (!isPaused) void refresh();
});

pause.hidden = false;
schedule();
