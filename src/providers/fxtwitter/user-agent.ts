/** Words in a `User-Agent` by which FxTwitter recognizes link preview crawlers. They get HTML or media, not JSON. */
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

export const forbiddenInUserAgent = (userAgent: string): string | undefined =>
  words.find((word) => userAgent.toLowerCase().includes(word));
