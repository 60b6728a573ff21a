import { parseItem } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import {
  lifecycleState,
  scheduledLifecycle,
  toHeaderDates,
  toIsoDates,
} from '../../../src/lib/lifecycle.ts';
import { clause } from '../../support/clause.ts';

const { deprecationMs, sunsetMs } = scheduledLifecycle;

describe('the state of a route', () => {
  clause(
    'read.route_lifecycle.deprecated_after_date',
    'read.versioning.deprecation_future_date',
  ).each([
    [0, 'announced'],
    [deprecationMs - 1, 'announced'],
    [deprecationMs, 'deprecated'],
    [sunsetMs - 1, 'deprecated'],
    [sunsetMs, 'past_sunset'],
    [Number.MAX_SAFE_INTEGER, 'past_sunset'],
  ])('at %i is %s', (nowMs, state) => {
    expect(lifecycleState(scheduledLifecycle, nowMs)).toBe(state);
  });

  it('is current without a lifecycle', () => {
    const states = [0, deprecationMs, sunsetMs].map((nowMs) => lifecycleState(null, nowMs));

    expect(states).toEqual(['current', 'current', 'current']);
  });

  it('changes from announced to past sunset if both dates are equal', () => {
    const lifecycle = { deprecationMs, sunsetMs: deprecationMs };

    const states = [deprecationMs - 1, deprecationMs].map((ms) => lifecycleState(lifecycle, ms));

    expect(states).toEqual(['announced', 'past_sunset']);
  });
});

describe('the dates that are scheduled', () => {
  clause(
    'read.versioning.deprecation_structured_date',
    'read.versioning.deprecation_scheduled_value',
  )('have a structured date for the deprecation', () => {
    const { deprecation } = toHeaderDates(scheduledLifecycle);

    expect(deprecation).toBe('@1789430400');
    expect(parseItem(deprecation)[0]).toEqual(new Date('2026-09-15T00:00:00Z'));
  });

  clause('read.versioning.sunset_http_date', 'read.versioning.sunset_scheduled_value')(
    'have an HTTP date for the sunset',
    () => {
      const { sunset } = toHeaderDates(scheduledLifecycle);

      expect(sunset).toBe('Wed, 15 Sep 2027 00:00:00 GMT');
      expect(Date.parse(sunset)).toBe(Date.parse('2027-09-15T00:00:00Z'));
    },
  );

  it('have seconds in ISO 8601', () => {
    expect(toIsoDates(scheduledLifecycle)).toEqual({
      deprecation: '2026-09-15T00:00:00Z',
      sunset: '2027-09-15T00:00:00Z',
    });
  });
});
