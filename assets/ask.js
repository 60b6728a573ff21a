// Asking the documentation in a session: answers arrive piece by piece, and further questions go on from
// them. The form itself leads to a page with the answer. Needs copy.js, docs.js, answer.js, ask-session.js.

const form = document.getElementById('ask');
const field = document.getElementById('q');
const askButton = form.querySelector('[type=submit]');
const stopButton = document.getElementById('stop');
const anewButton = document.getElementById('anew');
const turns = document.getElementById('turns');
const status = document.getElementById('status');

const { sessions, docs, description, pages } = form.dataset;
const renderAnswer = createAnswerRenderer({
  docs,
  description,
  pages: new Set(pages.split(' ').filter((name) => name !== '')),
});

let session = createPageSession(sessions);

/** Aborted to leave the turn that is under way; null while there is none. */
let leaving = null;

/** A question with its answer, as it arrives. */
function addTurn(question) {
  const answer = make('div', { class: 'answer', 'aria-live': 'polite', 'aria-busy': 'true' });
  const article = make('article', { class: 'turn' }, [make('h2', {}, [question]), answer]);
  turns.append(article);
  return { article, answer, view: createView(answer) };
}

/** Shows the last text that it was given, at most once for each picture of the screen. */
function createView(answer) {
  let text = null;
  const show = () => {
    if (text === null) return;
    answer.replaceChildren(...renderAnswer(text));
    text = null;
  };
  return {
    show: (next) => {
      if (text === null) requestAnimationFrame(show);
      text = next;
    },
    /** Shows at once what waits for the next picture, which would take away what is added after it. */
    settle: show,
    finish: (whole) => {
      text = null;
      answer.replaceChildren(...renderAnswer(whole));
      addCopyButtons(answer);
      letAllScroll();
    },
  };
}

function addNote({ answer, view }, text, kind = 'note') {
  view.settle();
  answer.append(make('p', { class: kind }, [text.replaceAll('`', '')]));
  status.textContent = text.replaceAll('`', '');
}

/** Gives what each event of a turn does to its article. */
function createTelling(turn) {
  const { article, view } = turn;
  const completed = ({ message, finishReason, citations, abstained }) => {
    if (finishReason === 'error') {
      addNote(turn, message, 'failed');
      return;
    }
    view.finish(message);
    article.classList.toggle('abstained', abstained);
    if (finishReason === 'length') addNote(turn, 'The answer was cut.');
    const count = citations.length === 1 ? '1 source' : `${citations.length} sources`;
    status.textContent = abstained ? 'Not answered' : `Answered, with ${count}`;
  };
  return ({ type, data }) => {
    if (type === 'message.appended') view.show(data.messageSoFar);
    if (type === 'message.completed') completed(data);
    if (type === 'turn.cancelled') addNote(turn, 'Stopped.');
    if (type === 'session.completed') addNote(turn, 'The session has ended. Ask again.', 'failed');
    if (type === 'session.failed') addNote(turn, data.message, 'failed');
  };
}

/** Asks, and shows what comes. One question at a time. */
async function ask(question) {
  if (leaving !== null) return;
  leaving = new AbortController();
  const { signal } = leaving;
  const before = turns.querySelector('[data-question]')?.dataset.question;
  for (const other of turns.querySelectorAll('.problem, .status')) other.remove();
  const turn = addTurn(question);
  showBusy();
  turn.article.scrollIntoView({ block: 'start' });
  try {
    // What the server answered by itself is not in a session yet.
    if (!session.isOpen && before !== undefined) await session.begin(before, signal);
    await session.ask(question, { signal, onEvent: createTelling(turn) });
  } catch (error) {
    tellFailure(error, turn, signal);
  }
  turn.answer.setAttribute('aria-busy', 'false');
  if (leaving?.signal !== signal) return; // another conversation has begun
  leaving = null;
  showIdle();
}

function tellFailure(error, turn, signal) {
  if (signal.aborted) addNote(turn, 'Stopped.');
  else addNote(turn, error instanceof Refusal ? error.message : lost, 'failed');
}

function showBusy() {
  status.textContent = 'Answering…';
  askButton.hidden = true;
  stopButton.hidden = false;
  anewButton.hidden = false;
  field.value = '';
  field.focus({ preventScroll: true });
}

function showIdle() {
  const hadFocus = document.activeElement === stopButton;
  askButton.hidden = false;
  stopButton.hidden = true;
  form.querySelector('label').textContent = 'Ask further';
  if (hadFocus) field.focus({ preventScroll: true });
}

/** The address asks the first question of what is shown, so that it can be passed on. */
function noteAddress(question) {
  const url = new URL(form.action);
  if (question !== '') url.searchParams.set('q', question);
  history.replaceState(null, '', url);
}

function submit(question) {
  if (question === '') {
    field.setCustomValidity('Type a question first.');
    field.reportValidity();
    return;
  }
  if (turns.querySelector('.turn') === null) noteAddress(question);
  void ask(question);
}

/** Begins a conversation without the one before. */
function beginAnew() {
  leaving?.abort();
  leaving = null;
  void session.stop();
  session = createPageSession(sessions);
  turns.replaceChildren();
  status.textContent = '';
  showIdle();
  form.querySelector('label').textContent = 'Your question';
  anewButton.hidden = true;
  noteAddress('');
  field.focus();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  submit(field.value.trim());
});
field.addEventListener('input', () => field.setCustomValidity(''));
stopButton.addEventListener('click', () => {
  if (session.isOpen) void session.stop();
  else leaving?.abort();
});
anewButton.addEventListener('click', beginAnew);

for (const link of document.querySelectorAll('.examples a')) {
  link.addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    submit(new URL(link.href).searchParams.get('q'));
  });
}

// An answer that takes longer than a page may wait arrives in a session all the same.
const refused = turns.querySelector('.problem-code')?.textContent ?? '';
if (refused.includes('overloaded') && field.value !== '') form.requestSubmit();
if (turns.querySelector('.turn') !== null) {
  anewButton.hidden = false;
  form.querySelector('label').textContent = 'Ask further';
}
