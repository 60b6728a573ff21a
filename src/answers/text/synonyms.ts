import { toStem } from './words.ts';

/**
 * Words that people and documentation use for the same things in software, a group on each line.
 * They are general: a word belongs here when it is meant so in most projects, whatever they do.
 */
const groups = `
abort cancel interrupt kill
accelerate faster optimize performance quick quicker speed
access permission privilege
account member profile
adapt customize customise personalize tailor
adjust alter change modify tweak update
agree accept approve approval confirm consent
agent bot assistant
alias shorthand nickname synonym
announce declare notify
answer reply respond response
append attach
argument option parameter flag setting
arrange order sort
array list
ask query question request
assemble build compile bundle
assert check validate validation verify
attempt retry try retries
audio sound speech voice spoken
authenticate authentication login signin credential
authorize authorization permission permit
automatic automatically implicit
await wait pending
back backend server
background worker
backup snapshot
bad invalid malformed wrong incorrect
bearer token
begin init initial initialize launch start startup boot
binary executable program command
block deny forbid prevent refuse reject disallow
branch fork
break crash fail broken
browser client frontend
bug defect error issue
cache cached memoize memo
callback handler hook listener
cap ceiling limit maximum max restrict
carry continue resume proceed
catch handle intercept trap
central global globally
chain pipeline sequence sequential
chat conversation dialog thread messaging
choose pick select selection
class type kind
clean cleanup clear purge tidy
clone copy duplicate
close shutdown stop teardown terminate end finish
cluster replica
code source
collect aggregate gather
colour color
combine compose join merge concatenate
command cli terminal shell
compact minify shrink smaller
compare diff difference distinguish
compatible compatibility
compress compression gzip deflate brotli
concurrent concurrency parallel simultaneous simultaneously
condition predicate rule
config configuration configure configured option options preference settings setup
connect connection socket
console stdout terminal
constant fixed static
consume read
contain include hold
content body payload
contributor maintainer owner author
convert transform translate serialize parse
cookie cookies
correct fix repair
count number amount quantity total
cover coverage
crawler robot spider
create generate make build produce construct new
cross origin cors
cut truncate shorten trim
daemon service
database db storage store sql
date time timestamp
debug debugger debugging diagnose inspect troubleshoot
decode deserialize parse unmarshal
decorate decorator extend augment
default fallback
defer delay postpone lazy
define declare specify
delegate subagent
delete drop erase discard remove unset
dependency dependencies library module package
deploy deployment hosting release ship
deprecate deprecated obsolete
describe description
destination target
detect discover find locate
develop development dev
directory folder
disable deactivate off suppress skip
disk filesystem
display print render show output
document documentation docs manual
domain host hostname
download fetch retrieve
draft preview
duplicate duplicated repeated twice
duration interval period timeout
dynamic runtime
earlier past previous history
edit modify
element item entry
email mail
embed embedding
empty blank null
enable activate on
encapsulate encapsulation isolate scope isolation
encode serialize stringify marshal
encrypt encryption cipher
endpoint route url path address
enforce require mandatory must
enhance extend plugin
enqueue queue
entry record
enumerate list
environment env
error exception failure fault problem
escape sanitize
event signal emit
evict expire
example sample demo
exclude ignore omit skip
execute run invoke perform
exit quit terminate
expire expiry ttl lifetime
export expose
external remote third-party
extract pull
fall fallback
file document
filter restrict where
final last
finish complete done end
flush drain
folder directory
follow track
font typeface typography
force compel must override
foreign external
form submit
format formatted layout pretty
forward proxy relay
freeze immutable readonly
function method procedure
gather collect
global globally everywhere
graceful gracefully
group category
halt stop
halving bisect binary
hammer flood throttle
header headers
hide redact conceal mask secret sensitive censor
hint suggestion
history log
hook lifecycle
icon favicon logo
id identifier key
identical equal same
idle inactive keepalive
image picture photo
import load require
improve optimize
include embed
incoming inbound request
increase bump raise grow
inform notify report
inherit inheritance extend
inject injection insert
input argument prompt
install setup add
instance object
instruction prompt system
integrate integration
interactive prompt
intercept interceptor middleware
interval period
invoke call
join merge combine
keep retain preserve save persist
label tag name
language locale i18n translation
large big huge size
latency delay slow
leave omit exclude
level severity
library package module
licence license
limit quota throttle rate restrict
link symlink url anchor
listen bind port serve
live realtime
load import read
lock mutex
log logger logging trace record
look search find lookup
loop iteration cycle round step
machine host computer
manage management
manual by-hand
map mapping translate
match pattern regex
measure metric metrics benchmark
media asset
memory heap ram
message notification
method verb
middleware hook interceptor
migrate migration upgrade
mime content-type
mock fake stub simulate mocking
model llm
module plugin extension addon
monitor observe observability telemetry
mount attach
move rename
multipart upload form-data
multiple many several
name label title
native builtin
network connection
newline linebreak eol
nested child inner
noise verbose quiet silent
notify alert
number count
object entity
observe watch monitor
obtain get retrieve
omit exclude skip
open launch
operate operation
optimise optimize
optional optionally
order sequence sort
organise organize structure
origin source
outgoing outbound
output result
override overwrite replace
pack archive tarball compress
page document view
paid billing
parallel concurrent
parse parser parsing
part segment piece section
partial incomplete
pass forward supply
password credential secret passphrase
patch fix
path address route
pause suspend
performance fast speed
permanent permanently
persist persistence save store
person human user
picture image photo
placeholder skeleton loading
plugin extension addon
pool pooling
portion chunk part
prefix base
prepare setup
preserve keep
prevent avoid protect
previous earlier former
pretty human-readable readable
print output
priority precedence
private internal
probe healthcheck health
production prod
program application app
progress status
promise async await
proof verify verification
protect guard secure security
provide supply
provider vendor
proxy gateway
public published
publish release
pull fetch
purpose goal
push upload send
random randomness temperature
range interval
rank rerank relevance relevant
rate throttle frequency
raw unparsed
read parse consume
real actual
reason cause why
receive accept incoming
recipe howto
recover restore recovery
recreate rebuild regenerate
redirect redirection moved
reduce decrease lower
refer reference
refresh reload revalidate invalidate
register registration
relative relation
reload restart
remember memory persist
remote server
rename alias
render rendering
repeat repeated again
replace substitute swap
reply answer
report summary
repository repo
reproduce repeatable deterministic seed
request call
require mandatory needed required
reserve allocate
resize scale
resource asset
retry retries reattempt
return yield
reuse recycle cache
revert undo rollback reset
rewrite transform
root base
rotate rotation roll
route router routing path
safe secure
sanitize clean escape
scan crawl
schedule timer cron
schema validation definition
scope namespace
screen ui interface
search lookup find query
secret confidential key
send dispatch emit transmit deliver
separate split divide isolate
serialize serialise stringify
serve host deliver
session cookie
share common
shorten abbreviate
show display reveal
shrink reduce compact
shut shutdown close
sign signature signing
silence suppress mute quiet
similar close resemble similarity
site website web
slow lag
snapshot checkpoint
sort order
speed fast
spin spawn
split partition
stage phase
standard conventional
stash shelve aside
status state
steps iterations rounds
store save
stream streaming chunk
string text
strip remove
structure layout schema
style css
submit send
subscribe listen
success successful
suffix extension
summary overview
support compatible
surround wrap
switch toggle
synchronous sync blocking
table grid
team organization organisation group
template view
temporary transient ephemeral
term word
test testing spec assert
text string
throw raise
throttle debounce ratelimit
tidy format
time duration clock
tls ssl https certificate cert secure
tool function
trace span tracing telemetry
track follow
transform convert map
translate localize localization
transport channel
tree hierarchy
trigger fire
trust verify
tunnel connect proxy
type typing typescript
typo misspell
ui interface view
undefined missing
unique distinct
unit test
unknown unrecognized
unpack extract
upgrade update migrate
upload send
usage use
validate check
value content
variable env
variant version
vendor provider
verbose loud detailed
version release
visitor client guest
vulnerability vulnerable security
wait block
warn warning
watch observe
weight priority
whole entire all
widget component
window view
wire protocol format
wrap wrapper decorate
write save
`;

/** Gives the stems that may stand for a stem, itself left out. */
export type Synonyms = (stem: string) => readonly string[];

/** Makes the table of synonyms. */
export function createSynonyms(): Synonyms {
  const table = new Map<string, string[]>();
  for (const line of groups.trim().split('\n')) {
    const stems = line.split(/[\s-]+/).map(toStem);
    for (const stem of stems) table.set(stem, [...(table.get(stem) ?? []), ...stems]);
  }
  return (stem) => [...new Set(table.get(stem))].filter((other) => other !== stem);
}
