// Results while a search is typed. The form itself leads to a page of results, without this script too.

/** Shows under a search box what its text finds, as links; the form itself leads to a page of results. */
function startFinding(form) {
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
  let asked = new AbortController();
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    timer = setTimeout(async () => {
      const results = await find(form, signal);
      if (signal.aborted) return;
      show(results);
      status.textContent = tell(input.value, results.length);
    }, 150);
  });
  form.addEventListener('keydown', (event) =>
    moveBetween(event, [input, ...list.querySelectorAll('a')]),
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

/** Gives what the text of a form finds; nothing where the server does not answer. */
async function find(form, signal) {
  const text = new FormData(form).get('q').trim();
  if (text === '') return [];
  try {
    const reply = await fetch(`${form.action}?${new URLSearchParams({ q: text })}`, {
      headers: { accept: 'application/json' },
      signal,
    });
    return reply.ok ? (await reply.json()).results : [];
  } catch {
    return []; // the form still leads to the results
  }
}

function tell(text, count) {
  if (text.trim() === '') return '';
  return count === 1 ? '1 result' : `${count === 0 ? 'No' : count} results`;
}

/** Addresses are told under the server's own name; a reader may have come by another one. */
function toItem({ title, page, url }) {
  const { pathname, hash } = new URL(url);
  const link = document.createElement('a');
  link.href = `${pathname}${hash}`;
  link.textContent = title;
  if (page !== title) {
    const where = document.createElement('span');
    where.textContent = page;
    link.append(' ', where);
  }
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/** The arrow keys go from the box to the links and between them. */
function moveBetween(event, stops) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const stop = stops[stops.indexOf(document.activeElement) + (step ?? 0)];
  if (step === undefined || stop === undefined) return;
  event.preventDefault();
  stop.focus();
}

for (const form of document.querySelectorAll('[data-find]')) startFinding(form);
