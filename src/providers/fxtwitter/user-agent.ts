/** The service takes clients with these words for link preview crawlers, and answers with HTML or other media. */
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

/** Returns the first word in a `User-Agent` for which the service serves no data. */
export function forbiddenInUserAgent(userAgent: string): string | undefined {
  return words.find((word) => userAgent.toLowerCase().includes(word));
}
