import type { DiscoveryFacts } from '../../src/routes/discovery/surfaces.ts';

/** Facts of a service that has only reads and one documentation page. */
export const discoveryFacts: DiscoveryFacts = {
  baseUrl: 'https://perch.test',
  version: '1.2.3',
  endpoints: [],
  limits: { windowSeconds: 60, public: 60, key: 600, post: 601, media: 602, pool: 800 },
  contacts: { keys: 'https://perch.test/ask', security: 'mailto:safe@perch.test' },
  linkPreviews: false,
  pages: () => [
    {
      name: 'start',
      title: 'Start here',
      summary: 'Perch is a server.',
      read: () => '# Start here\n',
    },
  ],
};
