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

/**
 * Pages of `/docs` in reading order, by the title of their group: summaries by name. The pages that
 * are written from OpenAPI have a title too.
 */
const groups: Readonly<Record<string, Readonly<Record<string, string | [string, string]>>>> = {
  'First steps': {
    start: 'Run Perch, and read a post by changing the host in its address',
    faq: 'What Perch can and cannot do, what it costs, and where its data is',
    troubleshooting: 'What to do about an error message, a status code or a wrong result',
    comparison: 'Other ways to read public posts, and when they are the better choice',
  },
  Reading: {
    posts: 'Read a post with its thread, replies and media, by URL or by id',
    profiles: 'Read an account, its posts, its followers and the accounts it follows',
    history: 'Get all posts of an account in a date range with one request',
    search: 'Search posts by phrase, author, date or hashtag, and find accounts',
    x: 'Read X without a login, and what cannot be read there',
    bluesky: 'Read Bluesky, write its handles, and what cannot be read',
    mastodon: 'Read any Mastodon server, large or small, and what it does not show to visitors',
    fediverse: 'Read Lemmy, Misskey, PeerTube, blogs and other servers that speak ActivityPub',
    paging: 'Get more than 20 posts: the next page, all pages, cursors',
    formats: 'Choose between Markdown, JSON, web pages, feeds and notes for Obsidian',
    pages: 'Open a post, profile or search as a web page, and print it',
    embeds: 'Show posts in web pages with oEmbed, and in chats with link previews',
    pictures: 'See the pictures of posts, what that costs, and what is never fetched',
  },
  'Building on Perch': {
    errors: 'Every error code, its cause and its solution',
    keys: 'How many requests you can send, what they cost, and how to get and use a key',
    caching: 'How long posts are cached, how to get a fresh copy, and how to use a CDN',
    mcp: 'Connect Claude, Cursor, VS Code and other assistants, and the tools they get',
    client: 'Read posts and ask questions with the npm package, with types and retries',
    scripts: 'Complete programs for curl, Node.js and Python',
    feeds: 'Follow accounts and searches in a feed reader',
    watch: 'Get each new post of an account printed, passed to a command or sent as a webhook',
    obsidian: 'Save posts and threads as notes in a vault',
    answers: 'Ask questions about Perch or your own docs, with or without a language model',
    sessions: 'Ask questions over HTTP, stream the answers, and ask follow-up questions',
    openapi: 'Generate a typed client from the OpenAPI description',
    discovery: 'Find the routes, formats, limits and tools of a server from its address',
    versioning: 'What stays compatible, what is deprecated, and how to move to v1',
  },
  'API reference': {
    api: ['API reference', 'Every operation of this server by name'],
    'api/posts': [
      'Posts and replies',
      'Get a post with its thread, list the replies to a post, and read a whole URL',
    ],
    'api/profiles': ['Profiles', 'Get the profile of an account with its posts'],
    'api/follows': [
      'Followers and followed accounts',
      'List the followers of an account, and the accounts that it follows',
    ],
    'api/search': ['Searches', 'Search posts or accounts'],
    'api/history': ['All posts of an account', 'Get all posts of an account in a date range'],
    'api/embeds': ['oEmbed', 'Get the oEmbed document of a post'],
    'api/feeds': ['Feeds', 'List the feeds of accounts as OPML, and use the feed paths of Nitter'],
    'api/mcp': ['MCP endpoint', 'Send messages of the Model Context Protocol'],
    'api/sessions': [
      'Questions in sessions',
      'Start a session, ask follow-up questions and stream the answers',
    ],
    'api/discovery': [
      'Descriptions for programs',
      'Get the OpenAPI description, llms.txt and other descriptions of the server',
    ],
    'api/pages': [
      'Web pages and documentation',
      'Get and search the documentation, and open the front page',
    ],
    'api/media': [
      'Pictures and media files',
      'Get the pictures of posts, and the files of imported archives',
    ],
    'api/health': [
      'Health of the server',
      'Check whether the server runs, and whether it is ready',
    ],
    'api/alias': ['Deprecated routes', 'Routes that still work, with the routes that replace them'],
    'api/schemas': ['Schemas', 'Every member of the JSON in requests and responses'],
  },
  'Running a server': {
    deploy: 'Run Perch with Docker or systemd, behind Caddy, nginx or Cloudflare',
    instances: 'Run several instances behind a load balancer, with Valkey or Redis',
    backup: 'Back up the data while the server runs, restore it, and move it to another machine',
    upgrade: 'Install a new version, what happens to the data, and how to go back',
    configuration: 'Every environment variable with its default',
    admin: 'Manage keys in the dashboard, on the command line or over HTTP',
    monitoring: 'Health checks, Prometheus metrics, the log, and what fills the disk',
    tracing: 'Send traces to Jaeger or Grafana, and see why a request was slow',
    providers: 'Which platforms Perch reads, which source answers, and what a 404 means',
    archive: 'Import your X, Mastodon or Bluesky archive, search it, export or delete it',
    security: 'What is public and logged, SSRF, CORS, limits, and how to report a vulnerability',
  },
  'Working on Perch': {
    architecture: 'The folders, and the path of a request through the code',
    development: 'Build, test and change Perch',
  },
};

/** Groups of pages. Other routes use the names `assets`, `find` and `ask`. */
export const navigation: readonly NavigationGroup[] = Object.entries(groups).map(
  ([title, pages]) => ({ title, pages: Object.entries(pages).map(toPage) }),
);

function toPage([name, about]: [string, string | [string, string]]): NavigationPage {
  if (typeof about === 'string') return { name, summary: about };
  return { name, title: about[0], summary: about[1] };
}
