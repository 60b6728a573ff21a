/** Author of the posts of a generated X export from 2012 to 2018. */
export const author = {
  name: 'Wren & Co',
  screen_name: 'Wren_Example',
  protected: false,
  id_str: '1001',
  profile_image_url_https: 'https://pictures.example/wren_normal.jpg',
  id: 1001,
  verified: false,
};

/** Returns a post in a script of a month. `more` replaces fields. */
export function makeMonthlyPost(
  id: number,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  return {
    source: '<a href="https://mobile.example" rel="nofollow">Mobile Web</a>',
    entities: { user_mentions: [], media: [], hashtags: [], urls: [] },
    geo: {},
    id_str: String(id),
    text,
    id,
    created_at: '2015-01-24 02:02:37 +0000',
    user: author,
    ...more,
  };
}

/** Returns the files of an X export from 2012 to 2018. `months`: posts by year and month, such as `2015_01`. */
export function makeMonthlyExport(
  months: Readonly<Record<string, readonly object[]>>,
): ReadonlyMap<string, string> {
  const details = {
    screen_name: author.screen_name,
    location: 'A hedge',
    url: 'http://t.co/wren',
    expanded_url: 'https://wren.example/',
    full_name: author.name,
    bio: 'Small bird, loud.',
    id: author.id_str,
    created_at: '2008-05-01 08:30:00 +0000',
    display_url: 'wren.example',
  };
  const payload = { tweets: 2, created_at: '2016-02-01 10:00:00 +0000', lang: 'en' };
  return new Map([
    ['README.txt', 'About'],
    ['index.html', '<p>'],
    ['css/application.min.css', 'p {}'],
    ['data/csv/2015_01.csv', 'tweet_id\n1\n'],
    ['data/js/payload_details.js', `var payload_details = ${JSON.stringify(payload)}`],
    ['data/js/tweet_index.js', 'var tweet_index =  [ {"year" : 2015} ]'],
    ['data/js/user_details.js', `var user_details =  ${JSON.stringify(details)}`],
    ...Object.entries(months).map(([month, posts]): [string, string] => [
      `data/js/tweets/${month}.js`,
      `Grailbird.data.tweets_${month} = \n${JSON.stringify(posts)}`,
    ]),
    ['js/tailbird.min.js', 'run([1])'],
    ['tweets.csv', makeCsv([['7', '', '', '2015-01-24 02:02:37 +0000', 'web', 'In the CSV']])],
  ]);
}

const columns = [
  ...['tweet_id', 'in_reply_to_status_id', 'in_reply_to_user_id', 'timestamp', 'source', 'text'],
  ...['retweeted_status_id', 'retweeted_status_user_id', 'retweeted_status_timestamp'],
  'expanded_urls',
];

/** Returns `tweets.csv` with the given cells. */
export const makeCsv = (rows: readonly (readonly string[])[]): string =>
  [columns, ...rows]
    .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
    .map((line) => `${line}\n`)
    .join('');
