// Buttons that copy: those of the server, which need a script to be of use, and one for each block of code.

/** Shows the buttons below an element, and adds those that blocks of code lack. */
function addCopyButtons(root) {
  for (const button of root.querySelectorAll('[data-copies]')) button.hidden = false;
  for (const block of root.querySelectorAll('.code:not(.output):not(:has(> .copy))')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    block.append(button);
  }
}

/** Gives what a button copies: the element that it names, or the code that it stands beside. */
function sourceOf(button) {
  const { copies } = button.dataset;
  return copies === undefined
    ? button.closest('.code').querySelector('pre')
    : document.getElementById(copies);
}

/** Copies the text of an element; where the browser does not let it, the text is selected at least. */
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand('copy'); // without https there is nothing else
  }
}

/** Says on the button, and to those who do not see it, what came of it. */
function tellCopied(button, isCopied) {
  const label = [...button.childNodes];
  button.dataset.done = '';
  button.replaceChildren(isCopied ? 'Copied' : 'Press Ctrl+C');
  const status = document.getElementById('status');
  if (status !== null) status.textContent = isCopied ? 'Copied' : 'Selected; press Ctrl+C to copy';
  setTimeout(() => {
    button.replaceChildren(...label);
    delete button.dataset.done;
  }, 2000);
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest('.copy, [data-copies]');
  if (button === null || button.dataset.done !== undefined) return;
  tellCopied(button, await copy(sourceOf(button)));
});

addCopyButtons(document);
