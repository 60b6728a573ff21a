/** Request of the long run. Each kind of reader of Perch has some. */
export interface SoakRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const get = (path: string, headers = {}): SoakRequest => ({ path, headers });

const call = (name: string, args: object): SoakRequest => ({
  path: '/mcp',
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  }),
});

const browser = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** Returns request number `n`. Some posts are read once, some again and again. */
export function requestAt(n: number): SoakRequest {
  const rare = 30_000_000 + n;
  const usual = 10_000_000 + (n % 40);
  const kinds: readonly SoakRequest[] = [
    get('/ada.example'),
    get('/ada.example/status/1900000000000000001', browser),
    get(`/mira_holm/status/${usual}`),
    get(`/mira_holm/status/${rare}?format=json`),
    get('/api/v1/profiles/mira_holm?format=json'),
    get(`/api/v1/posts?url=https://host${n % 30}.example.org/@wren/113000000000000000`),
    get(`/api/v1/profiles/wren@host${n % 30}.example.org`),
    get('/api/v1/search?q=heron&platform=archive'),
    get(`/api/v1/search?q=heron%20${n % 200}&platform=archive`),
    get('/ada.example?format=rss'),
    get('/ada.example?format=atom', { 'accept-encoding': 'gzip' }),
    get('/oembed?url=https://x.com/mira_holm/status/10000001'),
    get('/api/v1/profiles/ada.example/posts?format=ndjson&max_posts=50'),
    get('/api/v1/profiles/ada.example/followers?limit=5'),
    get('/', browser),
    get('/docs/start', browser),
    get('/docs/ask?q=how+do+I+page+through+followers', browser),
    get('/openapi.json', { 'accept-encoding': 'br' }),
    get('/health/ready'),
    get('/metrics'),
    get(`/api/v1/posts?url=${'9'.repeat(30)}`),
    get('/api/v1/search?q=&limit=-1'),
    get(`/no/such/page/${n}`),
    { path: '/ada.example', method: 'HEAD' },
    { path: '/api/v1/search', method: 'DELETE' },
    call('get_post', { url: `https://x.com/mira_holm/status/${usual}` }),
    call('search', { q: 'heron', platform: 'archive' }),
    { ...call('search', {}), body: '{"jsonrpc":' },
  ];
  return kinds[n % kinds.length] ?? get('/');
}
