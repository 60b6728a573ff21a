// Ask page: streams answers and keeps a session for follow-up questions. Without this script, the form opens
// a page with the answer. Uses copy.js, docs.js, answer.js and ask-session.js.

const form = document.getElementById('ask');
const field = document.getElementById('q');
const askButton = form.querySelector('[type=submit]');
const stopButton = document.getElementById('stop');
const restartButton = document.getElementById('restart');
const turns = document.getElementById('turns');
const status = document.getElementById('status');

const { base, sessions, docs, description, pages } = form.dataset;
const renderAnswer = createAnswerRenderer({
  base,
  docs,
  description,
  pages: new Set(pages.split(' ').filter((name) => name !== '')),
});

let session = createPageSession(sessions);

/** Abort controller of the current turn; `null` if there is none. */
let running = null;

/** Adds a question with an empty answer. */
function addTurn(question) {
  const answer = createElement('div', {
    class: 'answer',
    'aria-live': 'polite',
    'aria-busy': 'true',
  });
  const article = createElement('article', { class: 'turn' }, [
    createElement('h2', {}, [question]),
    answer,
  ]);
  turns.append(article);
  return { article, answer, view: createView(answer) };
}

/** Creates a view that renders the latest text of an answer once per animation frame. */
function createView(answer) {
  let text = null;
  const flush = () => {
    if (text === null) return;
    answer.replaceChildren(...renderAnswer(text));
    text = null;
  };
  return {
    show: (next) => {
      if (text === null) requestAnimationFrame(flush);
      text = next;
    },
    /** Renders a pending text now. In the next frame it would replace elements added in the meantime. */
    flush,
    finish: (whole) => {
      text = null;
      answer.replaceChildren(...renderAnswer(whole));
      addCopyButtons(answer);
      updateScrollAreas();
    },
  };
}

function addNote({ answer, view }, text, kind = 'note') {
  view.flush();
  answer.append(createElement('p', { class: kind }, [text.replaceAll('`', '')]));
  status.textContent = text.replaceAll('`', '');
}

/** Returns the line below an answer. An uncertain answer has sources too. */
function toStatus(sources, abstained) {
  if (abstained && sources === 0) return 'Not answered';
  const count = sources === 1 ? '1 source' : `${sources} sources`;
  return `${abstained ? 'Perhaps answered' : 'Answered'}, with ${count}`;
}

/** Creates the event handler of a turn. */
function createEventHandler(turn) {
  const { article, view } = turn;
  const showCompleted = ({ message, finishReason, citations, abstained }) => {
    if (finishReason === 'error') {
      addNote(turn, message, 'failed');
      return;
    }
    view.finish(message);
    article.classList.toggle('abstained', abstained);
    if (finishReason === 'length') addNote(turn, 'The answer was shortened.');
    status.textContent = toStatus(citations.length, abstained);
  };
  return ({ type, data }) => {
    if (type === 'message.appended') view.show(data.messageSoFar);
    if (type === 'message.completed') showCompleted(data);
    if (type === 'turn.cancelled') addNote(turn, 'Stopped.');
    if (type === 'session.completed') addNote(turn, 'The session has ended. Ask again.', 'failed');
    if (type === 'session.failed') addNote(turn, data.message, 'failed');
  };
}

/** Asks a question and shows the answer. Does nothing while another answer is in progress. */
async function ask(question) {
  if (running !== null) return;
  running = new AbortController();
  const { signal } = running;
  const earlier = turns.querySelector('[data-question]')?.dataset.question;
  for (const other of turns.querySelectorAll('.problem, .status')) other.remove();
  const turn = addTurn(question);
  showBusy();
  turn.article.scrollIntoView({ block: 'start' });
  try {
    // A question that the server answered in the page itself is not part of a session yet.
    if (!session.isOpen && earlier !== undefined) await session.begin(earlier, signal);
    await session.ask(question, { signal, onEvent: createEventHandler(turn) });
  } catch (error) {
    showFailure(error, turn, signal);
  }
  turn.answer.setAttribute('aria-busy', 'false');
  if (running?.signal !== signal) return; // the conversation was restarted
  running = null;
  showIdle();
}

function showFailure(error, turn, signal) {
  if (signal.aborted) addNote(turn, 'Stopped.');
  else addNote(turn, error instanceof SessionError ? error.message : connectionLost, 'failed');
}

function showBusy() {
  status.textContent = 'Answering…';
  askButton.hidden = true;
  stopButton.hidden = false;
  restartButton.hidden = false;
  field.value = '';
  field.focus({ preventScroll: true });
}

function showIdle() {
  const hadFocus = document.activeElement === stopButton;
  askButton.hidden = false;
  stopButton.hidden = true;
  form.querySelector('label').textContent = 'Follow-up question';
  if (hadFocus) field.focus({ preventScroll: true });
}

/** Puts the first question into the URL, so that it can be shared. */
function updateUrl(question) {
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
  if (turns.querySelector('.turn') === null) updateUrl(question);
  void ask(question);
}

/** Starts a new conversation. */
function restart() {
  running?.abort();
  running = null;
  void session.stop();
  session = createPageSession(sessions);
  turns.replaceChildren();
  status.textContent = '';
  showIdle();
  form.querySelector('label').textContent = 'Your question';
  restartButton.hidden = true;
  updateUrl('');
  field.focus();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  submit(field.value.trim());
});
field.addEventListener('input', () => field.setCustomValidity(''));
stopButton.addEventListener('click', () => {
  if (session.isOpen) void session.stop();
  else running?.abort();
});
restartButton.addEventListener('click', restart);

for (const link of document.querySelectorAll('.examples a')) {
  link.addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    submit(new URL(link.href).searchParams.get('q'));
  });
}

// The server refuses answers that take too long for a page request. A session can wait for them.
const problemCode = turns.querySelector('.problem-code')?.textContent ?? '';
if (problemCode.includes('overloaded') && field.value !== '') form.requestSubmit();
if (turns.querySelector('.turn') !== null) {
  restartButton.hidden = false;
  form.querySelector('label').textContent = 'Follow-up question';
}
