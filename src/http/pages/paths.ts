export const docsPath = '/docs';

/** The search. `/docs/search` is the page about searching posts. */
export const findPath = `${docsPath}/find`;

export const askPath = `${docsPath}/ask`;

export const assetPath = `${docsPath}/assets/`;

/** Maximum characters of a search text and of a question, as for every `q`. */
export const maxQueryLength = 512;
