export interface NavigationGroup {
  readonly title: string;
  /** Pages below `title`. `name` is the file name without `.md`; `summary` has no full stop. */
  readonly pages: readonly NavigationPage[];
}

export interface NavigationPage {
  readonly name: string;
  readonly summary: string;
  /** Title of a page that is written from OpenAPI; other pages have it in their file. */
  readonly title?: string;
}

/** Returns whether a page is written from the OpenAPI description: `api` and `api/…`. */
export function isApiPage(name: string): boolean {
  return name === 'api' || name.startsWith('api/');
}

/** Pages of `/docs` in reading order. Other routes use the names `assets`, `find` and `ask`. */
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
      { name: 'bluesky', summary: 'Read Bluesky, write its handles, and what cannot be read' },
      {
        name: 'mastodon',
        summary: 'Read any Mastodon server, large or small, and what it does not show to visitors',
      },
      {
        name: 'fediverse',
        summary: 'Read Lemmy, Misskey, PeerTube, blogs and other servers that speak ActivityPub',
      },
      { name: 'paging', summary: 'Get more than 20 posts: the next page, all pages, cursors' },
      {
        name: 'formats',
        summary: 'Choose between Markdown, JSON, web pages, feeds and notes for Obsidian',
      },
      { name: 'pages', summary: 'Open a post, profile or search as a web page, and print it' },
      {
        name: 'embeds',
        summary: 'Show posts in web pages with oEmbed, and in chats with link previews',
      },
      {
        name: 'pictures',
        summary: 'See the pictures of posts, what that costs, and what is never fetched',
      },
    ],
  },
  {
    title: 'Building on Perch',
    pages: [
      { name: 'errors', summary: 'Every error code, its cause and its solution' },
      {
        name: 'keys',
        summary: 'How many requests you can send, what they cost, and how to get and use a key',
      },
      {
        name: 'caching',
        summary: 'How long posts are cached, how to get a fresh copy, and how to use a CDN',
      },
      {
        name: 'mcp',
        summary: 'Connect Claude, Cursor, VS Code and other assistants, and the tools they get',
      },
      {
        name: 'client',
        summary: 'Read posts and ask questions with the npm package, with types and retries',
      },
      { name: 'scripts', summary: 'Complete programs for curl, Node.js and Python' },
      { name: 'feeds', summary: 'Follow accounts and searches in a feed reader' },
      {
        name: 'watch',
        summary:
          'Get each new post of an account printed, passed to a command or sent as a webhook',
      },
      { name: 'obsidian', summary: 'Save posts and threads as notes in a vault' },
      {
        name: 'answers',
        summary: 'Ask questions about Perch or your own docs, with or without a language model',
      },
      {
        name: 'sessions',
        summary: 'Ask questions over HTTP, stream the answers, and ask follow-up questions',
      },
      { name: 'openapi', summary: 'Generate a typed client from the OpenAPI description' },
      {
        name: 'discovery',
        summary: 'Find the routes, formats, limits and tools of a server from its address',
      },
      {
        name: 'versioning',
        summary: 'What stays compatible, what is deprecated, and how to move to v1',
      },
    ],
  },
  {
    title: 'API reference',
    pages: [
      { name: 'api', title: 'API reference', summary: 'Every operation of this server by name' },
      {
        name: 'api/posts',
        title: 'Posts and replies',
        summary: 'Get a post with its thread, list the replies to a post, and read a whole URL',
      },
      {
        name: 'api/profiles',
        title: 'Profiles',
        summary: 'Get the profile of an account with its posts',
      },
      {
        name: 'api/follows',
        title: 'Followers and followed accounts',
        summary: 'List the followers of an account, and the accounts that it follows',
      },
      {
        name: 'api/search',
        title: 'Searches',
        summary: 'Search posts or accounts',
      },
      {
        name: 'api/history',
        title: 'All posts of an account',
        summary: 'Get all posts of an account in a date range',
      },
      {
        name: 'api/embeds',
        title: 'oEmbed',
        summary: 'Get the oEmbed document of a post',
      },
      {
        name: 'api/feeds',
        title: 'Feeds',
        summary: 'List the feeds of accounts as OPML, and use the feed paths of Nitter',
      },
      {
        name: 'api/mcp',
        title: 'MCP endpoint',
        summary: 'Send messages of the Model Context Protocol',
      },
      {
        name: 'api/sessions',
        title: 'Questions in sessions',
        summary: 'Start a session, ask follow-up questions and stream the answers',
      },
      {
        name: 'api/discovery',
        title: 'Descriptions for programs',
        summary: 'Get the OpenAPI description, llms.txt and other descriptions of the server',
      },
      {
        name: 'api/pages',
        title: 'Web pages and documentation',
        summary: 'Get and search the documentation, and open the front page',
      },
      {
        name: 'api/media',
        title: 'Pictures and media files',
        summary: 'Get the pictures of posts, and the files of imported archives',
      },
      {
        name: 'api/health',
        title: 'Health of the server',
        summary: 'Check whether the server runs, and whether it is ready',
      },
      {
        name: 'api/alias',
        title: 'Deprecated routes',
        summary: 'Routes that still work, with the routes that replace them',
      },
      {
        name: 'api/schemas',
        title: 'Schemas',
        summary: 'Every member of the JSON in requests and responses',
      },
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
        name: 'instances',
        summary: 'Run several instances behind a load balancer, with Valkey or Redis',
      },
      {
        name: 'backup',
        summary:
          'Back up the data while the server runs, restore it, and move it to another machine',
      },
      {
        name: 'upgrade',
        summary: 'Install a new version, what happens to the data, and how to go back',
      },
      { name: 'configuration', summary: 'Every environment variable with its default' },
      {
        name: 'admin',
        summary: 'Manage keys in the dashboard, on the command line or over HTTP',
      },
      {
        name: 'monitoring',
        summary: 'Health checks, Prometheus metrics, the log, and what fills the disk',
      },
      {
        name: 'tracing',
        summary: 'Send traces to Jaeger or Grafana, and see why a request was slow',
      },
      {
        name: 'providers',
        summary: 'Which platforms Perch reads, which source answers, and what a 404 means',
      },
      {
        name: 'archive',
        summary: 'Import your X, Mastodon or Bluesky archive, search it, export or delete it',
      },
      {
        name: 'security',
        summary: 'What is public and logged, SSRF, CORS, limits, and how to report a vulnerability',
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
