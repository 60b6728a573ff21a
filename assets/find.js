// Search boxes: results while typing, and the keys that focus the box. Without JavaScript, the form opens the
// page of results.

/** Shows results below a search box while its text changes. */
function startSearch(form) {
  const input = form.querySelector('input');
  const list = document.createElement('ul');
  list.className = 'found';
  list.hidden = true;
  const status = document.createElement('p');
  status.className = 'visually-hidden';
  status.setAttribute('role', 'status');
  form.append(list, status);

  const show = (results) => {
    list.replaceChildren(...results.slice(0, 8).map(toItem));
    list.hidden = results.length === 0;
  };
  const close = () => show([]);
  let pending = new AbortController();
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    pending.abort();
    pending = new AbortController();
    const { signal } = pending;
    timer = setTimeout(async () => {
      const results = await fetchResults(form, signal);
      if (signal.aborted) return;
      show(results);
      status.textContent = describeCount(input.value, results.length);
    }, 150);
  });
  form.addEventListener('keydown', (event) =>
    moveFocus(event, [input, ...list.querySelectorAll('a')]),
  );
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || list.hidden) return;
    event.preventDefault();
    close();
    input.focus();
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) close();
  });
}

/** Returns the results for the text of a form; an empty array if the request fails. */
async function fetchResults(form, signal) {
  const text = new FormData(form).get('q').trim();
  if (text === '') return [];
  try {
    const response = await fetch(`${form.action}?${new URLSearchParams({ q: text })}`, {
      headers: { accept: 'application/json' },
      signal,
    });
    return response.ok ? (await response.json()).results : [];
  } catch {
    return []; // the form still opens the page of results
  }
}

function describeCount(text, count) {
  if (text.trim() === '') return '';
  return count === 1 ? '1 result' : `${count === 0 ? 'No' : count} results`;
}

/** Creates the list item of a result. It links to the host of this page, because the server may have several names. */
function toItem({ title, page, url }) {
  const { pathname, hash } = new URL(url);
  const link = document.createElement('a');
  link.href = `${pathname}${hash}`;
  link.textContent = title;
  if (page !== title) {
    const pageTitle = document.createElement('span');
    pageTitle.textContent = page;
    link.append(' ', pageTitle);
  }
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/** Moves the focus between the box and the results with the up and down arrow keys. */
function moveFocus(event, stops) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const stop = stops[stops.indexOf(document.activeElement) + (step ?? 0)];
  if (step === undefined || stop === undefined) return;
  event.preventDefault();
  stop.focus();
}

/** Focuses a search box on “/”, Ctrl-K and Cmd-K, unless the box is hidden or the user types in a field. */
function addShortcuts(input) {
  const hint = document.createElement('kbd');
  hint.textContent = '/';
  hint.setAttribute('aria-hidden', 'true');
  input.after(hint);
  input.setAttribute('aria-keyshortcuts', '/ Control+K Meta+K');
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, select, [contenteditable]') !== null;
    if (!isShortcut(event) || isTyping || input.offsetParent === null) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function isShortcut({ key, ctrlKey, metaKey, altKey }) {
  if (altKey) return false;
  return ctrlKey || metaKey ? key.toLowerCase() === 'k' : key === '/';
}

for (const form of document.querySelectorAll('[data-find]')) {
  startSearch(form);
  addShortcuts(form.querySelector('input'));
}
