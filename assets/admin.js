// Forms of the dashboard: a form with data-once is sent once, also if its button is pressed twice.

for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.once === 'sent') event.preventDefault();
    form.dataset.once = 'sent';
  });
}

// A page from the back-forward cache can be sent again.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-once]')) form.dataset.once = '';
});

document.querySelector('[aria-invalid="true"]')?.focus();
