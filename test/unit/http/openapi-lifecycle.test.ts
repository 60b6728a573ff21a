import { expect, it } from 'vitest';
import { scheduledLifecycle } from '../../../src/core/lifecycle.ts';
import { describeOperationLifecycle } from '../../../src/http/openapi-lifecycle.ts';
import { aliasRoutes, readRoutes } from '../../../src/http/routes.ts';
import { clause } from '../../support/clause.ts';

const facts = { baseUrl: 'https://perch.test', version: '1.2.3', linkPreviews: false };
const { deprecationMs, sunsetMs } = scheduledLifecycle;

clause(
  [
    'read.lifecycle_object.operations_deprecated_true',
    'read.route_lifecycle.deprecated_after_date',
  ],
  'marks an alias as deprecated before its date too, and tells the state of the moment',
  () => {
    const moments = [deprecationMs - 1, deprecationMs, sunsetMs];

    const told = aliasRoutes.map((route) =>
      moments.map((nowMs) => describeOperationLifecycle(route, { ...facts, nowMs })),
    );

    for (const states of told) {
      expect(states).toMatchObject([
        { deprecated: true, 'x-lifecycle-state': 'announced' },
        { deprecated: true, 'x-lifecycle-state': 'deprecated' },
        { deprecated: true, 'x-lifecycle-state': 'past_sunset' },
      ]);
    }
  },
);

clause(
  ['read.versioning.nothing_else_deprecated', 'read.versioning.permalinks_not_aliases'],
  'marks nothing else, whenever',
  () => {
    const told = readRoutes.map((route) =>
      describeOperationLifecycle(route, { ...facts, nowMs: sunsetMs }),
    );

    expect(new Set(told.map((one) => JSON.stringify(one)))).toEqual(
      new Set(['{"x-lifecycle-state":"current"}']),
    );
  },
);

it('leaves the state out where no moment is given', () => {
  const told = aliasRoutes.map((route) =>
    describeOperationLifecycle(route, { ...facts, nowMs: null }),
  );

  expect(told).toEqual([
    { deprecated: true, 'x-successor-version': '/api/v1/posts' },
    {
      deprecated: true,
      'x-successor-version-map': {
        profile: '/api/v1/profiles/{handle}',
        followers: '/api/v1/profiles/{handle}/followers',
        following: '/api/v1/profiles/{handle}/following',
        search: '/api/v1/search',
      },
    },
  ]);
});
