// Documentation pages: makes wide tables and code scrollable by keyboard, marks the current heading in the table of
// contents, and opens the collapsed section that the URL names. Scripts that add content call updateScrollAreas().

/** Makes an element focusable if its content is larger than the element, so that the arrow keys scroll it. */
function updateScrollArea(element, name) {
  const isScrollable =
    element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
  if (!isScrollable) {
    element.removeAttribute('tabindex');
    return;
  }
  element.tabIndex = 0;
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', name);
}

function updateScrollAreas() {
  for (const table of document.querySelectorAll('.table')) updateScrollArea(table, 'Table');
  for (const code of document.querySelectorAll('.code pre')) updateScrollArea(code, 'Code');
}

/** Marks the last heading above the reading position in the table of contents. */
function trackHeadings(contents) {
  const links = new Map(
    [...contents.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]),
  );
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  const update = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1);
    for (const [id, link] of links) {
      if (id === passed?.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  new IntersectionObserver(update, { rootMargin: '-100px 0px -60% 0px' }).observe(document.body);
  addEventListener('scroll', update, { passive: true });
  update();
}

for (const contents of document.querySelectorAll('.contents')) trackHeadings(contents);
addEventListener('resize', updateScrollAreas);

/** Opens the collapsed section whose heading the fragment of the URL names. */
function openSection() {
  const section = document.getElementById(location.hash.slice(1))?.closest('details.folded');
  if (section) section.open = true;
  updateScrollAreas();
}

openSection();
addEventListener('hashchange', openSection);
for (const section of document.querySelectorAll('details.folded')) {
  section.addEventListener('toggle', updateScrollAreas);
}
