// Theme switch of every page. Without JavaScript, pages follow the theme of the system.

const root = document.documentElement;
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** Shows the switch, and keeps its state in sync with the theme of the page. */
function startThemeSwitch(button) {
  const isDark = () => (root.dataset.theme ?? (systemIsDark.matches ? 'dark' : 'light')) === 'dark';
  const show = () => button.setAttribute('aria-pressed', String(isDark()));
  button.addEventListener('click', () => {
    chooseTheme(isDark() ? 'light' : 'dark');
    show();
  });
  systemIsDark.addEventListener('change', show);
  show();
  button.hidden = false;
}

/** Sets the theme. Choosing the theme of the system removes the stored choice, so that the page follows the system again. */
function chooseTheme(theme) {
  const isSystem = (theme === 'dark') === systemIsDark.matches;
  if (isSystem) delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (isSystem) localStorage.removeItem('theme');
    else localStorage.setItem('theme', theme);
  } catch {
    // Storage is blocked: the choice is lost with the page.
  }
}

for (const button of document.querySelectorAll('[data-theme-switch]')) startThemeSwitch(button);
