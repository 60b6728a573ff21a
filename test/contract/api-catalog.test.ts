import LinkHeader from 'http-link-header';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';

const env = { PERCH_BASE_URL: 'https://perch.example.org' };

/** A target: `href` is demanded; what else there is has the form that it has in RFC 9264 §4.2.4. */
const target = z.looseObject({
  href: z.url(),
  type: z
    .string()
    .regex(/^[\w.+-]+\/[\w.+-]+$/)
    .optional(),
  title: z.string().optional(),
  hreflang: z.array(z.string()).optional(),
});

/** A context (RFC 9264 §4.2.2): an anchor, and under each relation a list of targets, never none. */
const context = z.object({ anchor: z.url() }).catchall(z.array(target).min(1));

/** RFC 9264 §4.2.1: one member, `linkset`, with a list of contexts. */
const linkset = z.strictObject({ linkset: z.array(context).min(1) });

describe('/.well-known/api-catalog', () => {
  clause('read.discovery.api_catalog_linkset', 'read.what.discovery_describes_surfaces')(
    'is a linkset with the profile, and links to the description, documentation and status of each API',
    async () => {
      const app = await buildTestApp({ env });

      const reply = await app.request('/.well-known/api-catalog');

      expect(reply.headers['content-type']).toBe(
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      );
      const [catalog, ...apis] = linkset.parse(reply.json()).linkset;
      expect(catalog?.anchor).toBe('https://perch.example.org/.well-known/api-catalog');
      const items = z.array(target).parse(catalog?.item);
      expect(items.map(({ href }) => href)).toEqual(apis.map(({ anchor }) => anchor));
      expect(items[0]?.href).toBe('https://perch.example.org/api');
      expect(apis[0]).toMatchObject({
        'service-desc': [{ href: `${env.PERCH_BASE_URL}/openapi.json`, type: 'application/json' }],
        'service-doc': [
          { href: `${env.PERCH_BASE_URL}/docs/start`, type: 'text/html' },
          { href: `${env.PERCH_BASE_URL}/llms.txt`, type: 'text/plain' },
          { href: `${env.PERCH_BASE_URL}/llms-full.txt`, type: 'text/plain' },
        ],
        'service-meta': [{ href: `${env.PERCH_BASE_URL}/.well-known/ard.json` }],
        status: [{ href: `${env.PERCH_BASE_URL}/health/ready`, type: 'application/json' }],
      });
    },
  );

  clause('read.discovery.api_catalog_linkset')(
    'links to itself and its items in `Link` of GET and HEAD',
    async () => {
      const app = await buildTestApp({ env });
      const get = await app.request('/.well-known/api-catalog');
      const { linkset: contexts } = linkset.parse(get.json());

      const head = await app.request('/.well-known/api-catalog', { method: 'HEAD' });

      const links = LinkHeader.parse(String(head.headers.link));
      expect(head.headers.link).toBe(get.headers.link);
      expect(links.rel('api-catalog').map(({ uri }) => uri)).toEqual([contexts[0]?.anchor]);
      expect(links.rel('item').map(({ uri }) => uri)).toEqual(
        contexts.slice(1).map(({ anchor }) => anchor),
      );
    },
  );

  it('gives the media type that each target is sent with', async () => {
    const app = await buildTestApp({ env });
    const { linkset: contexts } = linkset.parse(
      (await app.request('/.well-known/api-catalog')).json(),
    );
    const targets = contexts.flatMap(({ anchor: _anchor, ...relations }) =>
      Object.values(relations).flat(),
    );

    for (const { href, type } of targets.filter((each) => each.type !== 'text/html')) {
      if (type === undefined) continue;
      const { headers } = await app.request(href.slice(env.PERCH_BASE_URL.length));
      expect([href, String(headers['content-type']).split(';')[0]]).toEqual([href, type]);
    }
  });
});
