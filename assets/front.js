// Front page: shows results without reloading the page. Uses copy.js.

const form = document.getElementById('ask');
const box = document.getElementById('q');
const result = document.getElementById('result');
const status = document.getElementById('status');
const platform = document.getElementById('platform');

/** Key of the chosen platform in the storage of the browser. */
const platformKey = 'perch.platform';

/** Timeout of a read. The deadline of the server is shorter. */
const timeoutMs = 30_000;

let pending = new AbortController();

/** Query of the result on the page. A change of only the fragment needs no new read. */
let shownQuery = location.search;

/** Returns the URL of the page with the result for a text. */
function toResultUrl(text) {
  const url = new URL(form.action);
  url.searchParams.set('q', text);
  if (platform.value !== platform.dataset.default) url.searchParams.set('platform', platform.value);
  url.hash = 'result';
  return url;
}

/** Loads the result at a URL, and replaces the current one. */
async function read(url) {
  shownQuery = url.search;
  pending.abort();
  pending = new AbortController();
  const { signal } = pending;
  result.setAttribute('aria-busy', 'true');
  status.textContent = 'Reading…';
  try {
    const page = await load(url, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    show(page);
  } catch (error) {
    if (signal.aborted) return; // replaced by a newer read
    showFailure(error);
  }
  result.removeAttribute('aria-busy');
}

/** Loads a page. Throws an error with the text of the problem if the response is not HTML. */
async function load(url, signal) {
  const response = await fetch(url, { headers: { accept: 'text/html' }, signal });
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    return new DOMParser().parseFromString(text, 'text/html');
  }
  const { title, detail, resolution } = JSON.parse(text);
  throw new Error(`${title}. ${detail} ${resolution}`);
}

/** Replaces the parts of this page that depend on the result. */
function show(page) {
  const wasSource = document.getElementById('result-view-source')?.checked === true;
  result.replaceChildren(...page.getElementById('result').childNodes);
  document.title = page.title;
  document.body.className = page.body.className;
  box.value = page.getElementById('q').value;
  const source = document.getElementById('result-view-source');
  if (source !== null && wasSource) source.checked = true;
  addCopyButtons(result);
  announce(document.getElementById('result-title'));
}

/** Shows that the server could not be reached, was too busy, or was shutting down. */
function showFailure(error) {
  const [title, text] = [document.createElement('h2'), document.createElement('p')];
  title.id = 'result-title';
  title.tabIndex = -1;
  title.textContent = 'The server did not answer';
  // Other classes come from `fetch` and `JSON.parse`; their messages are not for people.
  const isFromServer = error instanceof Error && error.constructor === Error;
  text.textContent = isFromServer ? error.message : 'Try again in a moment.';
  const problem = document.createElement('div');
  problem.className = 'problem';
  problem.append(title, text);
  result.replaceChildren(problem);
  document.body.classList.add('has-result');
  announce(title);
}

/** Announces the result to screen readers, and moves the focus to it. */
function announce(title) {
  if (title === null) {
    status.textContent = '';
    box.focus();
    return;
  }
  const heading = result.querySelector('.rendered h3')?.cloneNode(true) ?? title.cloneNode(true);
  for (const link of heading.querySelectorAll('.original')) link.remove();
  status.textContent = `Shown: ${heading.textContent}`;
  title.focus({ preventScroll: true });
  result.scrollIntoView({ block: 'start' });
}

/** Opens a result URL, and adds it to the history of the browser. */
function openResult(url) {
  if (url.href !== location.href) history.pushState(null, '', url);
  void read(url);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  openResult(toResultUrl(box.value));
});

document.addEventListener('click', (event) => {
  const link = event.target.closest('main a[href]');
  const isPlain =
    event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (link === null || !isPlain) return;
  const url = new URL(link.href);
  const here = new URL(form.action);
  if (url.origin !== here.origin || url.pathname !== here.pathname || !url.searchParams.has('q'))
    return;
  event.preventDefault();
  openResult(url);
});

addEventListener('popstate', () => {
  if (location.search !== shownQuery) void read(new URL(location.href));
});

/** Returns what `use` returns; `null` if the browser stores nothing for this page. */
function withStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

platform.addEventListener('change', () => {
  withStorage((storage) => storage.setItem(platformKey, platform.value));
});

const remembered = withStorage((storage) => storage.getItem(platformKey));
const isKnown = [...platform.options].some(({ value }) => value === remembered);
if (isKnown && !new URLSearchParams(location.search).has('platform')) platform.value = remembered;
