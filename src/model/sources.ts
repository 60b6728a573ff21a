/** The names of the providers that there are, which tell who answered (decisions section 2). */
export const sourceNames = ['archive', 'fxtwitter', 'syndication', 'bluesky', 'mastodon'] as const;
