export interface NavigationGroup {
  readonly title: string;
  /** Pages by file name without `.md`. A summary has no full stop at its end. */
  readonly pages: readonly { readonly name: string; readonly summary: string }[];
}

/** Pages of `/docs` in reading order. `assets`, `find` and `ask` are other paths and cannot be names. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'First steps',
    pages: [
      { name: 'start', summary: 'Run Perch, and read a post by changing the host in its address' },
      {
        name: 'faq',
        summary: 'What Perch can and cannot do, what it costs, and where its data is',
      },
      {
        name: 'troubleshooting',
        summary: 'What to do about an error message, a status code or a wrong result',
      },
      {
        name: 'comparison',
        summary: 'Other ways to read public posts, and when they are the better choice',
      },
    ],
  },
  {
    title: 'Reading',
    pages: [
      { name: 'posts', summary: 'Read a post with its thread, replies and media, by URL or by id' },
      {
        name: 'profiles',
        summary: 'Read an account, its posts, its followers and the accounts it follows',
      },
      { name: 'history', summary: 'Get all posts of an account in a date range with one request' },
      {
        name: 'search',
        summary: 'Search posts by phrase, author, date or hashtag, and find accounts',
      },
      { name: 'x', summary: 'Read X without a login, and what cannot be read there' },
      { name: 'bluesky', summary: 'Read Bluesky, write its handles, and what is not served' },
      {
        name: 'mastodon',
        summary: 'Read any Mastodon server, large or small, and what it does not show to visitors',
      },
      { name: 'paging', summary: 'Get more than 20 posts: the next page, all pages, cursors' },
      { name: 'formats', summary: 'Choose between Markdown, JSON and notes for Obsidian' },
      {
        name: 'embeds',
        summary: 'Show posts in web pages with oEmbed, and in chats with link previews',
      },
    ],
  },
  {
    title: 'Building on it',
    pages: [
      { name: 'errors', summary: 'Every error code, when it comes and what to do then' },
      { name: 'keys', summary: 'What reads cost, the allowances, and what a key changes' },
      { name: 'caching', summary: 'How long answers stay fresh, and what caches have to respect' },
      {
        name: 'mcp',
        summary: 'Connect Claude, Cursor, VS Code and other assistants, and the tools they get',
      },
      { name: 'scripts', summary: 'Complete programs for curl, Node.js and Python' },
      { name: 'obsidian', summary: 'Save posts and threads as notes in a vault' },
      { name: 'answers', summary: 'Ask the documentation, and how it finds an answer' },
      { name: 'sessions', summary: 'Start a conversation, stream its events, follow up' },
      { name: 'openapi', summary: 'The machine description, and a client made from it' },
      { name: 'discovery', summary: 'What a program learns from the base URL alone' },
      { name: 'versioning', summary: 'What may change, how it is announced, and what to do then' },
    ],
  },
  {
    title: 'Running a server',
    pages: [
      {
        name: 'deploy',
        summary: 'Run Perch with Docker or systemd, behind Caddy, nginx or Cloudflare',
      },
      {
        name: 'backup',
        summary: 'Back up the data folder, upgrade Perch, and move it to another machine',
      },
      { name: 'configuration', summary: 'Every environment variable with its default' },
      { name: 'admin', summary: 'Make, change and delete keys' },
      { name: 'providers', summary: 'Who answers reads, and what happens when one fails' },
      { name: 'archive', summary: 'The posts that Perch itself holds, and the sample' },
      {
        name: 'security',
        summary: 'What is public, what is logged, and how a weakness is reported',
      },
    ],
  },
  {
    title: 'Working on Perch',
    pages: [
      { name: 'architecture', summary: 'The folders, and the path of a request through the code' },
      { name: 'development', summary: 'Build, test and change Perch' },
    ],
  },
];
