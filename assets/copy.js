// Copy buttons: shows those of the page, which are hidden without JavaScript, and adds one to each code block.

/** Shows the copy buttons in an element, and adds one to each code block without one. */
function addCopyButtons(root) {
  for (const button of root.querySelectorAll('[data-copies]')) button.hidden = false;
  if (navigator.clipboard !== undefined) {
    for (const button of root.querySelectorAll('[data-copies-url]')) button.hidden = false;
  }
  for (const block of root.querySelectorAll('.code:not(.output):not(:has(> .copy))')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    block.append(button);
  }
}

/** Copies the text at the URL of a button, of the element that it names, or of its code block. */
function copyFor(button) {
  const { copiesUrl, copies } = button.dataset;
  if (copiesUrl !== undefined) return copyUrl(copiesUrl);
  return copyElement(
    copies === undefined
      ? button.closest('.code').querySelector('pre')
      : document.getElementById(copies),
  );
}

/** Copies the text of an element and returns the message to show. Selects the text if copying is not allowed. */
async function copyElement(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return copied;
  } catch {
    getSelection().selectAllChildren(element);
    // Without HTTPS there is no `navigator.clipboard`.
    return document.execCommand('copy') ? copied : selected;
  }
}

/** Copies the text at a URL and returns the message to show. */
async function copyUrl(url) {
  try {
    // Safari allows writing only in the click handler itself, so the clipboard gets a promise of the text.
    const item = new ClipboardItem({ 'text/plain': fetchText(url) });
    await navigator.clipboard.write([item]);
    return copied;
  } catch {
    return failed;
  }
}

async function fetchText(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered with status ${response.status}.`);
  return new Blob([await response.text()], { type: 'text/plain' });
}

/** Live region of the page. Pages without one get it now, because screen readers ignore new ones with text. */
const announcements = document.getElementById('status') ?? addLiveRegion();

function addLiveRegion() {
  const region = document.createElement('p');
  region.className = 'visually-hidden';
  region.setAttribute('role', 'status');
  document.querySelector('main').append(region);
  return region;
}

/** Texts for the button and for screen readers. */
const copied = { label: 'Copied', text: 'Copied' };
const selected = { label: 'Press Ctrl+C', text: 'The text is selected. Press Ctrl+C to copy it.' };
const failed = {
  label: 'Not copied',
  text: 'The page could not be copied. Open “View as Markdown” instead.',
};

/** Shows a message on the button for two seconds, and announces it to screen readers. */
function showMessage(button, { label, text }) {
  const content = [...button.childNodes];
  button.dataset.done = '';
  button.replaceChildren(label);
  announcements.textContent = text;
  setTimeout(() => {
    button.replaceChildren(...content);
    delete button.dataset.done;
  }, 2000);
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest('.copy, [data-copies], [data-copies-url]');
  if (button === null || button.dataset.done !== undefined) return;
  showMessage(button, await copyFor(button));
});

addCopyButtons(document);
