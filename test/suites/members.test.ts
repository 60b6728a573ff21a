import { describe, expect, it } from 'vitest';
import { fixturesFolder, fixturesPresent, listFixtures, readFixture } from '../support/fixtures.ts';
import { blueskyMembers } from '../support/members/bluesky.ts';
import { blueskyRecordMembers } from '../support/members/bluesky-records.ts';
import { fxTwitterMembers } from '../support/members/fxtwitter.ts';
import { mastodonMembers } from '../support/members/mastodon.ts';
import { mastodonExportMembers } from '../support/members/mastodon-export.ts';
import type { Platform } from '../support/members/platform.ts';
import { syndicationMembers } from '../support/members/syndication.ts';
import { findPlaces, type Place, reaches, watch } from '../support/members/walk.ts';

const platforms: Readonly<Record<string, Platform>> = {
  bluesky: blueskyMembers,
  'bluesky-repository': blueskyRecordMembers,
  fxtwitter: fxTwitterMembers,
  mastodon: mastodonMembers,
  'mastodon-export': mastodonExportMembers,
  syndication: syndicationMembers,
};

/** Enough rows to see whether a member reaches an answer: some members are read from one kind of post only. */
const tries = 12;

type ByPath = ReadonlyMap<string, readonly Place[]>;

function groupByPath(places: readonly Place[]): ByPath {
  const groups = new Map<string, Place[]>();
  for (const place of places) {
    const group = groups.get(place.path);
    if (group === undefined) groups.set(place.path, [place]);
    else group.push(place);
  }
  return groups;
}

function sampledPlaces({ samples, kinds }: Platform): readonly Place[] {
  return samples.flatMap(([kind, sample]) => findPlaces({ [kind]: sample }, kinds));
}

function recordedPlaces(folder: string, { kinds }: Platform): readonly Place[] {
  return listFixtures(folder)
    .map((name) => readFixture(name).response)
    .filter(({ status, body }) => status === 200 && body !== undefined)
    .flatMap(({ body }) => findPlaces(body, kinds));
}

/** Returns the paths for which a value reaches an answer. */
async function findReaching(groups: ByPath, { kinds }: Platform): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [path, places] of groups) {
    // Testing an object by itself shows most of the members that are read.
    const valued = places
      .filter(({ value }) => isValue(value))
      .sort((a, b) => Number(isNested(a)) - Number(isNested(b)));
    for (const place of valued.slice(0, tries)) {
      if (!(await reaches(place, kinds))) continue;
      found.push(path);
      break;
    }
  }
  return found;
}

const isNested = ({ kind, path }: Place) => !path.startsWith(`${kind}.`);

/** An empty list or object has no value of its own to test. */
function isValue(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

const isBelow = (path: string, above: string) =>
  path === above || path.startsWith(`${above}.`) || path.startsWith(`${above}[`);

function matches(path: string, pattern: string): boolean {
  if (!pattern.includes('*')) return isBelow(path, pattern);
  const form = pattern.replace(/[.[\]]/g, '\\$&').replaceAll('*', '[^.]+');
  return new RegExp(`^${form}(?:[.[]|$)`).test(path);
}

describe.each(Object.entries(platforms))(
  'every member of the payloads of %s',
  (folder, platform) => {
    const named = { ...platform.leftOut, ...platform.envelope };
    const patterns = Object.keys(named);
    const isNamed = (path: string) => patterns.some((pattern) => matches(path, pattern));

    it('that the schemas define is in a sample', () => {
      const missing = new Set<string>();
      for (const [kind, sample] of platform.samples) {
        platform.shape(kind, watch(sample, { kind, kinds: platform.kinds, missing }));
      }
      const known = groupByPath(sampledPlaces(platform));

      const paths = [...known.keys()];
      const lacking = [...missing].filter((path) => !paths.some((each) => isBelow(each, path)));
      expect(lacking).toEqual([]);
    });

    it('that the schemas define reaches an answer, or is excluded with a reason', async () => {
      const { paths, isReached } = await look(sampledPlaces(platform), platform);

      expect(paths.filter((path) => !isReached(path) && !isNamed(path))).toEqual([]);
    });

    it.skipIf(!fixturesPresent)(
      `that was recorded reaches an answer, or is left out for a reason (${fixturesFolder})`,
      async () => {
        const places = [...sampledPlaces(platform), ...recordedPlaces(folder, platform)];
        const { paths, reaching, isReached } = await look(places, platform);
        const isSent = (pattern: string) => paths.some((path) => matches(path, pattern));

        expect(
          paths.filter((path) => !isReached(path) && !isNamed(path)),
          'on neither',
        ).toEqual([]);
        expect(reaching.filter(isNamed), 'left out, and yet in an answer').toEqual([]);
        expect(
          patterns.filter((pattern) => !isSent(pattern)),
          'named, and never sent',
        ).toEqual([]);
      },
    );
  },
);

async function look(places: readonly Place[], platform: Platform) {
  const groups = groupByPath(places);
  const reaching = await findReaching(groups, platform);
  const isReached = (path: string) => reaching.some((each) => isBelow(each, path));
  return { paths: [...groups.keys()], reaching, isReached };
}
