import type { Tombstone } from '../model/post.ts';

export const missingSentences: Readonly<Record<Tombstone['reason'], string>> = {
  deleted: 'This post was deleted.',
  suspended: 'This post is from a suspended account.',
  private: 'This post is from an account that is not public.',
  blocked: 'This post is hidden, because its author limits who can see it.',
  unavailable: 'This post is not available to the public.',
};
