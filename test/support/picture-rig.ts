import { systemClock } from '../../src/lib/clock.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from './build-app.ts';
import {
  type FakeInternet,
  type FakeName,
  openFakeInternet,
  siteAddresses,
} from './fake-internet.ts';
import { createFakeMastodon } from './fake-mastodon.ts';
import type { FakeHandler } from './fake-upstream.ts';
import { accountRow, homeHost, imageRow, snowflake, statusRow } from './mastodon-payloads.ts';
import { pictureSecret } from './signed-picture.ts';

/** App with the Mastodon provider, and the network with a Mastodon server and the host of its pictures. */
export interface PictureRig {
  readonly app: TestApp;
  readonly internet: FakeInternet;
  /** URL of a post with one picture, at `pictureUrl`. */
  readonly postUrl: string;
  /** Returns the received requests for pictures. */
  picturesAsked(): readonly string[];
}

export const pictureHost = 'files.example.org';

/** URL of the picture in the post of the rig. */
export const pictureUrl = `https://${pictureHost}/heron.png`;

/** Smallest content that has the form of a PNG picture. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);

export interface PictureRigOptions extends Omit<TestAppOptions, 'network'> {
  /** Answers requests for pictures. Default: a PNG picture. */
  readonly onPicture?: FakeHandler;
  readonly names?: Readonly<Record<string, FakeName>>;
}

/** Builds an app with the default `PERCH_MEDIA=proxy`. It is closed at the end of the test. */
export async function buildPictureRig(options: PictureRigOptions = {}): Promise<PictureRig> {
  const { onPicture = sendPng, names, env, ...rest } = options;
  const server = createFakeMastodon(homeHost);
  const wren = accountRow('wren');
  const id = snowflake(Date.UTC(2026, 0, 1));
  server.addAccount(wren);
  server.addStatus(statusRow(id, wren, { media_attachments: [imageRow('heron')] }));
  const [siteAddress] = siteAddresses;
  const known = { [homeHost]: [siteAddress], [pictureHost]: [siteAddress], ...names };
  const internet = await openFakeInternet(known, (request, response) => {
    const isApi = request.headers.host === homeHost;
    (isApi ? server.handler : onPicture)(request, response);
  });
  const app = await buildTestApp({
    clock: systemClock,
    ...rest,
    network: internet,
    env: {
      PERCH_PROVIDERS: 'mastodon',
      PERCH_CURSOR_KEY: pictureSecret,
      ...env,
    },
  });
  return {
    app,
    internet,
    postUrl: `https://${homeHost}/@wren/${id}`,
    picturesAsked: () =>
      internet.site.requests
        .filter(({ headers }) => headers.host !== homeHost)
        .map(({ url }) => url),
  };
}

export const sendPng: FakeHandler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'image/png' }).end(png);
};

/** Returns the path of the picture in the oEmbed document of the post. */
export async function readPicturePath({ app, postUrl }: PictureRig): Promise<string> {
  const reply = await app.request(`/api/v1/oembed?url=${encodeURIComponent(postUrl)}`);
  return new URL(String(reply.json().thumbnail_url)).pathname;
}
