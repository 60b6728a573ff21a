// What pages do beyond being read: the theme switch. Everything works without it.

const root = document.documentElement;
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** Shows the switch and keeps it true to what is painted. */
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

/** Choosing what the system has is no choice: the page then follows the system again. */
function chooseTheme(theme) {
  const isSystem = (theme === 'dark') === systemIsDark.matches;
  if (isSystem) delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (isSystem) localStorage.removeItem('theme');
    else localStorage.setItem('theme', theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}

for (const button of document.querySelectorAll('[data-theme-switch]')) startThemeSwitch(button);
