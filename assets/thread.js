// Page of a post: the keys `j` and `k` move the focus to the next and to the previous post. The page contains this file.
const posts = [...document.querySelectorAll('article.post')];

/** Distance in pixels from the top of the window to a post to which it has scrolled; page.css sets less. */
const maxTop = 24;

/** Returns the index of the post with the focus, or of the post at the top of the window. */
function findIndex() {
  const focused = posts.findIndex((post) => post.contains(document.activeElement));
  return focused >= 0
    ? focused
    : posts.findLastIndex((post) => post.getBoundingClientRect().top < maxTop);
}

document.addEventListener('keydown', (event) => {
  const step = { j: 1, k: -1 }[event.key];
  const isTyped = event.target.closest('input, textarea, select') !== null;
  if (step === undefined || isTyped || event.altKey || event.ctrlKey || event.metaKey) return;
  const post = posts[findIndex() + step];
  if (post === undefined) return;
  event.preventDefault();
  post.tabIndex = -1;
  post.focus({ preventScroll: true });
  post.scrollIntoView();
});
