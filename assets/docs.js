// What pages of the documentation do beyond being read: scrolling by keyboard, and the heading that one
// is at. What arrives later calls letAllScroll().

/** What is wider than the page scrolls by itself, and so must be reachable by keyboard. */
function letScroll(element, name) {
  const isWider =
    element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
  if (!isWider) {
    element.removeAttribute('tabindex');
    return;
  }
  element.tabIndex = 0;
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', name);
}

function letAllScroll() {
  for (const table of document.querySelectorAll('.table')) letScroll(table, 'Table');
  for (const code of document.querySelectorAll('.code pre')) letScroll(code, 'Code');
}

/** Marks in the contents the heading that was last scrolled past. */
function followHeadings(contents) {
  const links = new Map(
    [...contents.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]),
  );
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1);
    for (const [id, link] of links) {
      if (id === passed?.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  new IntersectionObserver(mark, { rootMargin: '-100px 0px -60% 0px' }).observe(document.body);
  addEventListener('scroll', mark, { passive: true });
  mark();
}

for (const contents of document.querySelectorAll('.contents')) followHeadings(contents);
letAllScroll();
addEventListener('resize', letAllScroll);
