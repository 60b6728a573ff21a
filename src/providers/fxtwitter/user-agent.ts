/**
 * Words that make the service answer with HTML or with other media: it takes such clients for link
 * preview crawlers (FxTwitter, request headers).
 */
const words = [
  'discordbot',
  'telegrambot',
  'facebook',
  'whatsapp',
  'firefox/92',
  'vkshare',
  'revoltchat',
  'preview',
  'iframely',
] as const;

/** Gives the first word in a `User-Agent` that the service does not serve data to. */
export function forbiddenInUserAgent(userAgent: string): string | undefined {
  return words.find((word) => userAgent.toLowerCase().includes(word));
}
