export interface NavigationGroup {
  readonly title: string;
  /** Pages by file name without `.md`. A summary is a sentence without its full stop. */
  readonly pages: readonly { readonly name: string; readonly summary: string }[];
}

/** The pages of `/docs` in order. Missing files are left out; the names `assets`, `find` and `ask` are taken. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'First steps',
    pages: [{ name: 'start', summary: 'Run Perch and read something, in five minutes' }],
  },
  {
    title: 'Reading',
    pages: [
      { name: 'posts', summary: 'Read a post with its thread and replies, by URL or by id' },
      { name: 'profiles', summary: 'Read an account, its posts, and who follows whom' },
      { name: 'history', summary: 'Import a whole range of an account’s posts at once' },
      { name: 'search', summary: 'Search posts and accounts, and the operators for it' },
      { name: 'x', summary: 'What can be read on X, by whom, and what is not served' },
      { name: 'bluesky', summary: 'What can be read on Bluesky, and what is not served' },
      { name: 'mastodon', summary: 'Read any server of Mastodon, and what it keeps from visitors' },
      { name: 'paging', summary: 'Walk long lists by cursors, without gaps or repeats' },
      { name: 'formats', summary: 'Markdown, JSON and notes, and how one of them is chosen' },
      { name: 'embeds', summary: 'Show posts in other pages: oEmbed and link previews' },
    ],
  },
  {
    title: 'Building on it',
    pages: [
      { name: 'errors', summary: 'Every error code, when it comes and what to do then' },
      { name: 'keys', summary: 'What reads cost, the allowances, and what a key changes' },
      { name: 'caching', summary: 'How long answers stay fresh, and what caches have to respect' },
      { name: 'mcp', summary: 'The same reads as tools for assistants and agents' },
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
      { name: 'self-hosting', summary: 'Put Perch on a machine of your own, and behind a proxy' },
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
      { name: 'architecture', summary: 'The folders, and how requests go through the code' },
      { name: 'development', summary: 'Build and test it, and the place for each change' },
    ],
  },
];
