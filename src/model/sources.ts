/** The names of the providers that there are, which tell who answered. */
export const sourceNames = ['archive', 'fxtwitter', 'syndication', 'bluesky', 'mastodon'] as const;
