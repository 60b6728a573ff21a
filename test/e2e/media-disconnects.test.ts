import { connect } from 'node:net';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  hashOf,
  toMp4,
  toPictureTweet,
  toXFiles,
  writeFiles,
} from '../support/exports/media-export.ts';
import { listen } from '../support/listen.ts';
import { buildPictureRig, pictureUrl, png } from '../support/picture-rig.ts';
import { runArchive } from '../support/run-here.ts';
import { signPicture } from '../support/signed-picture.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const oneMegabyte = {
  PERCH_REPLY_BYTES_PER_ADDRESS: '1048576',
  PERCH_REPLY_BYTES: '1048576',
};

/** Sends pipelined requests for a path and closes the connection after `waitMs`, without reading. */
function leave(url: string, path: string, count: number, waitMs: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).pause();
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`.repeat(count), () =>
      setTimeout(() => socket.destroy(), waitMs),
    );
  });
}

async function leaveOften(url: string, path: string, count: number): Promise<void> {
  for (let round = 0; round < 60; round += 1) await leave(url, path, count, round % 6);
}

const statusOf = async (url: string) => {
  const { statusCode, body } = await request(url);
  await body.dump();
  return statusCode;
};

describe('clients that disconnect before the reply', () => {
  it.each([1, 6])('occupy nothing with %i requests for a file of the archive', async (count) => {
    const large = Buffer.concat([toMp4('large'), Buffer.alloc(8 * 2 ** 20, 'perch')]);
    const data = temporaryFolder();
    const files = toXFiles([toPictureTweet(20, 'large')], { 'tweets_media/20-large.jpg': large });
    await runArchive(data, 'import', writeFiles(temporaryFolder(), files));
    const { url } = await listen({ PERCH_DATA_DIR: data, ...oneMegabyte });

    await leaveOften(url, `/media/sha256/${hashOf(large)}`, count);

    const read = () => statusOf(`${url}/media/sha256/${hashOf(large)}`);
    await expect.poll(read, { timeout: 5000 }).toBe(200);
  });

  it.each([1, 6])('occupy nothing with %i requests for a picture', async (count) => {
    const large = Buffer.concat([png, Buffer.alloc(100_000)]);
    const { app } = await buildPictureRig({
      env: { PERCH_DATA_DIR: temporaryFolder(), ...oneMegabyte },
      onPicture: (_, response) => response.writeHead(200).end(large),
    });
    const path = signPicture(pictureUrl);
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
    expect(await statusOf(`${url}${path}`)).toBe(200);

    await leaveOften(url, path, count);

    await expect.poll(() => statusOf(`${url}${path}`), { timeout: 5000 }).toBe(200);
  });
});
