/**
 * Words that mean something of their own together, and what documentation calls it. The words of a
 * phrase are looked up no more. General, as the synonyms are.
 */
const table = `
a lot of | many bulk
all at once | buffer batch together
ahead of time | prefetch preload advance
as it arrives | stream
as they arrive | stream
at the same time | concurrent parallel simultaneous
at once | concurrent parallel simultaneous
at startup | init start boot
behind a proxy | proxy forwarded trust
be called | name
by default | default
by hand | manual
by mistake | accident
carry on | resume continue
check that | validate assert verify
check whether | validate assert test
clean up | cleanup clear dispose teardown close
come back | return resume
cut off | truncate limit timeout
drop out | disconnect
figure out | detect determine
fill in | default populate
find out | detect inspect determine
from scratch | new init create
get rid of | remove delete disable strip
give up | abort timeout cancel
give up after | timeout retries
go away | close disconnect
go back | revert rollback back
goes wrong | error fail failure
how big | size limit maximum
how fast | rate speed performance
how large | size limit maximum
how long | timeout duration lifetime length
how many | count number limit maximum
how many times | retry retries limit maximum
how much | size limit amount maximum
how often | interval frequency rate
in a row | sequential consecutive
in advance | prefetch preload
in charge of | owner responsible
in order | sequence sorted
in parallel | parallel concurrent
in production | production deploy
in the background | background async worker
keep track of | track monitor log
keep an eye on | monitor watch
leave out | omit exclude skip ignore
left out | omit exclude skip ignore
let go of | release dispose
line by line | line diff
listen for | event listener on
log in | login authenticate
log out | logout
look like | format shape
look up | lookup find query resolve
made up | fake mock
make sure | ensure validate require
more than one | multiple several
more than once | multiple repeat
no longer | deprecate remove obsolete
no more than | limit maximum
not allowed | forbid deny
not found | 404 missing notfound
on demand | lazy demand
on top of | extend wrap
on the fly | dynamic runtime
one after another | sequential sequence
one after the other | sequential sequence
one by one | sequential iterate each
out of date | outdated stale
out of memory | memory heap
over and over | repeat loop
plug in | plugin register
point to | reference path
pick up | load detect read
put off | defer delay
read only | readonly
right away | immediate sync
roll back | rollback revert
run out | exhaust limit
scaled down | resize
set up | setup configure install
shut down | shutdown close exit
sign in | login signin authenticate
sign up | signup register
slow down | throttle rate delay
speed up | performance optimize cache
spread across | cluster balance
stand in | mock stub fake
start over | reset restart
step by step | tutorial sequential
stop working | fail broken
switch off | disable off false
switch on | enable on true
take over | override hijack
talk to | connect request communicate
tell apart | distinguish identify
throw away | discard remove drop
time out | timeout
too big | size limit large exceed
too large | size limit large exceed
too long | timeout length limit duration
too many | limit maximum exceed
too much | limit maximum exceed
too slow | timeout slow performance
try again | retry retries reattempt
tried again | retry retries reattempt
turn into | convert transform
turn off | disable off false
turn on | enable on true
turned off | disable off false
turned on | enable on true
up to date | current update sync
wait for | await wait timeout
what happens when | behavior
what kind of | type
write down | log record
wrong type | type validation
`;

/** Takes the phrases out of a text. */
export interface Phrases {
  /** Gives what is left of the text, and what each phrase in it is called. */
  take(text: string): { readonly rest: string; readonly found: readonly Phrase[] };
}

/** A phrase of a text. */
export interface Phrase {
  readonly text: string;
  /** What documentation calls it. */
  readonly meanings: readonly string[];
}

/** Makes the table of phrases; longer ones are taken before those that they hold. */
export function createPhrases(): Phrases {
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.split(' | '));
  const meanings = new Map(rows.map(([text = '', list = '']) => [text, list.split(' ')]));
  const longestFirst = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`\\b(?:${longestFirst.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi');
  return {
    take: (text) => {
      const found: Phrase[] = [];
      const rest = text.replaceAll(pattern, (match) => {
        const phrase = match.toLowerCase().replaceAll(/\s+/g, ' ');
        found.push({ text: phrase, meanings: meanings.get(phrase) ?? [] });
        return ' … ';
      });
      return { rest, found };
    },
  };
}
