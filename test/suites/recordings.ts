import { readFixture } from '../support/fixtures.ts';

/** The folders of what FxTwitter answers to the reads of one post. */
export const fxTwitterFolders = ['status', 'thread', 'conversation'].map(
  (folder) => `fxtwitter/${folder}`,
);

/** Gives the id that a recording was asked for: its parameter `id`, else the end of its path. */
export function idOf(name: string): string {
  const { pathname, searchParams } = new URL(readFixture(name).request.url);
  return searchParams.get('id') ?? pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
}
