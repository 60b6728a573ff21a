// What the front page does beyond its form: it reads without loading the page anew. Needs copy.js.

const form = document.getElementById('ask');
const box = document.getElementById('q');
const result = document.getElementById('result');
const status = document.getElementById('status');

/** The most that a read may take here; the server has a shorter deadline of its own. */
const patienceMs = 30_000;

let reading = new AbortController();

/** The query of what is shown; a way back that changes the fragment alone reads nothing. */
let shown = location.search;

/** Gives the address that reads a text. */
function addressOf(text) {
  const url = new URL(form.action);
  url.searchParams.set('q', text);
  url.hash = 'result';
  return url;
}

/** Reads what an address asks, and shows it in the place of what was there. */
async function read(url) {
  shown = url.search;
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  result.setAttribute('aria-busy', 'true');
  status.textContent = 'Reading…';
  try {
    const page = await load(url, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
    show(page);
  } catch (error) {
    if (signal.aborted) return; // something else was asked meanwhile
    showFailure(error);
  }
  result.removeAttribute('aria-busy');
}

/** Loads the page of an address; what is no page is left to the browser, which shows it as it is. */
async function load(url, signal) {
  const response = await fetch(url, { headers: { accept: 'text/html' }, signal });
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    return new DOMParser().parseFromString(text, 'text/html');
  }
  const { title, detail, resolution } = JSON.parse(text);
  throw new Error(`${title}. ${detail} ${resolution}`);
}

/** Takes over what differs between two states of this page. */
function show(page) {
  const wasSource = document.getElementById('view-source')?.checked === true;
  result.replaceChildren(...page.getElementById('result').childNodes);
  document.title = page.title;
  document.body.className = page.body.className;
  box.value = page.getElementById('q').value;
  const source = document.getElementById('view-source');
  if (source !== null && wasSource) source.checked = true;
  addCopyButtons(result);
  announce(document.getElementById('result-title'));
}

/** The server gave no page: it is not there, too busy, or stopping. */
function showFailure(error) {
  const [title, text] = [document.createElement('h2'), document.createElement('p')];
  title.id = 'result-title';
  title.tabIndex = -1;
  title.textContent = 'The server did not answer';
  const isTold = error instanceof Error && error.constructor === Error;
  text.textContent = isTold ? error.message : 'Try again in a moment.';
  const problem = document.createElement('div');
  problem.className = 'problem';
  problem.append(title, text);
  result.replaceChildren(problem);
  document.body.classList.add('has-result');
  announce(title);
}

/** Says what is there now, and puts the keyboard there. */
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

/** Reads an address and remembers it, so that the way back leads through what was read. */
function go(url) {
  if (url.href !== location.href) history.pushState(null, '', url);
  void read(url);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  go(addressOf(box.value));
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
  go(url);
});

addEventListener('popstate', () => {
  if (location.search !== shown) void read(new URL(location.href));
});
