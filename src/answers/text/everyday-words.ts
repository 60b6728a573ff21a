import { toStem } from './words.ts';

/**
 * Words that people say in plain speech, and what documentation of software may call it: those before
 * the bar lead to those behind it, and not back. General, as the synonyms are: a word belongs here
 * where it is meant so whatever a project does.
 */
const table = `
spinner loader skeleton placeholder | loading load pending wait fallback suspense progress
hourglass busy | loading pending progress wait busy
spread scatter fan | distribute distributed cluster broadcast share
outsider stranger anyone everybody public | client public anonymous unauthenticated external expose
explore discover peek | inspect introspect introspection query list browse discover
big bigger biggest large larger largest huge giant | size limit max maximum length bytes
small smaller smallest tiny little | size min minimum limit compact
deep deeper nest nested | depth level nested recursive
far distant | depth remote limit
fast faster quick quickly rapid | performance speed optimize benchmark
slow slower sluggish laggy | performance timeout delay latency slow
heavy expensive costly | performance cost overhead complexity
cheap light lightweight | performance overhead small
down offline unreachable dead unavailable | unavailable error fail failure connection disconnect offline health
gone vanish vanished disappear disappeared disappears missing | missing undefined removed remove lost empty override overwrite
hand hands handed | pass provide supply
remark remarks annotation | comment comments note
usual normal ordinary standard | default standard convention
unusual special odd strange weird | custom exception special
own homemade self | custom
tailored bespoke | custom customize
picture photo drawing | image
film movie clip | video
sound noise music | audio
voice speech | audio speech
chosen choice picked pick | select option choose
remember remembered recall | cache store persist memory session state
forget forgotten forgets | clear delete remove expire reset
twice double doubled duplicate duplicated | duplicate idempotent unique dedupe deduplicate repeat
once single | once single singleton one
again anew | retry repeat re reuse
forever endless endlessly eternal | infinite loop timeout persistent permanent never
hang hangs hung stuck freeze frozen freezes stall stalls | timeout hang block deadlock pending stall
leak leaks leaking | memory leak close release dispose cleanup
crash crashes crashed die dies died dead blow | error exception crash fatal exit uncaught
broken break breaks broke | error fail invalid breaking
wrong incorrect mistaken mistake mistakes | error invalid incorrect validation
complain complains complaint grumble | error warning message
ugly messy mess | format pretty clean
nice nicer nicely pretty prettier beautiful readable | pretty format formatter prettify
colorful colored coloured | color
hide hidden conceal cover covered invisible | hide redact mask secret hidden private filter exclude
secret secrets private confidential | secret private redact sensitive credential
leave left omit skip skipped | exclude omit ignore skip
ban banned forbid forbidden refuse refused refuses refusal turn | reject deny forbidden block disallow prevent unauthorized
allow permit let lets permitted | allow enable permission
guard protect safe safely safety | security protect auth secure
attack attacks attacker hacker malicious evil abuse | security vulnerability attack csrf xss injection protection
hammer hammering flood flooding overload overloaded overwhelm spam | limit rate throttle backpressure pressure
visitor visitors guest people person human customer | user client request
who whom whoever | user identity author
company firm office employer | organization proxy private scope
neighbour neighbor sibling | sibling peer
boss manager | parent owner
child children kid | child nested children
ancestor parent above | parent root
machine computer laptop box | host server machine local system
phone tablet handset | mobile device
house home | local home directory
door entrance gate | entry endpoint gateway
bridge glue | adapter integration bridge wrapper
post mail letter | message email send
envelope wrapper | header wrap payload
conversation talk chat dialogue | chat message conversation session
speak talk | communicate protocol connect
language languages tongue | locale language i18n translation internationalization
translated translate | i18n locale translation
word words phrase | string text term
sentence paragraph | text string
number amount quantity | count number size limit version
figure figures statistics stats | metrics statistics
clock watch hour minute minutes second seconds moment | time timeout duration interval timer ms milliseconds
day days week month year night nightly daily hourly weekly | date schedule cron interval rotate time
age old older oldest | age expire version stale legacy previous maxage
stale outdated rotten | stale expire refresh invalidate revalidate
new newer newest latest recent recently | latest new version current
young fresh freshly | new refresh recent
early earlier before beforehand | before pre previous prior hook
late later afterwards after | after post defer lazy delay async
now immediately instantly straightaway | immediate sync synchronous
wait waits waiting patient patience | timeout await wait delay interval
hurry rush | priority immediate
begin begins beginning | start initialize init create
stop stops halt ends end | stop close abort cancel end shutdown
finish finished done over complete | end finish complete callback close
kill killed murder | kill terminate abort signal exit
wake wakes woken | resume start trigger
sleep asleep idle | idle sleep delay keepalive timeout
alive heartbeat ping | keepalive heartbeat ping health alive
quiet quietly silent silently mute shut | silent disable suppress level quiet
loud noisy chatty verbose talkative | verbose debug level log
noise clutter | filter level log ignore
see look view watch observe | view show inspect monitor log
find finds locate where | find search path location lookup
trace track follow | trace id log correlation monitor
know knows learn tell | detect check determine
guess guesses infer | infer detect default automatic
count counts counted tally | count metrics number total
measure measures measured | metrics measure benchmark performance timing
compare compares comparison versus | compare comparison diff difference
differ differs different | difference compare different
same equal identical | same equal match identical
similar alike | similar similarity like
sort sorts sorted arrange order | sort order
shuffle random dice luck | random seed
rank best | priority order rank score
mix mixed blend combine | merge combine compose
join glue stick together | merge concat join combine
split cut divide part parts chop slice | split chunk partition separate
piece pieces bit bits portion | chunk part fragment segment partial
whole entire complete everything all | all entire complete full global
everywhere anywhere | global all globally
nowhere | none disable
here there place spot | path location directory
top head first | first header beginning prefix root
bottom tail last | last end footer suffix
front | proxy before reverse prefix
behind | proxy reverse after
inside within inner | inside nested internal encapsulate
outside outer | external outside global
beneath under below | nested child subdirectory under
over above | parent over
around wrap wraps surround | wrap wrapper around middleware hook
between middle | middleware intermediate proxy between
across through | across pass propagate share
side beside next | next adjacent parallel
pretend pretends fake faked imitate simulate | mock stub fake simulate test
dummy | mock placeholder test example
try tries attempt trial | retry attempt test
test tests tested exam | test mock
prove proof | verify validate
check checks checked examine | validate check verify assert
valid legal proper | valid validate schema
shape form structure layout | schema structure format type
recipe recipes cookbook | example guide recipe
explain description describe | documentation description
teach learn tutorial | guide tutorial getting started
write writes wrote written | write save output log create
read reads reading | read parse load
fill filled fills | populate default fill
empty blank nothing none | empty null undefined
drop throw toss discard | remove drop discard delete
throw away | discard drop
clean tidy sweep wipe | clean clear purge delete cleanup remove
wash scrub | sanitize clean
store keep hold save | store save persist cache
shelf drawer warehouse box | store storage container
bag basket bucket | container storage
rent borrow lease | acquire pool lease
return give back | return release
share shared sharing | share shared common reuse
lend hand over | pass transfer
carry carries transport bring | transport pass send
move moves moved shift | migrate move transfer rename redirect
copy copies clone | copy clone duplicate
rename renamed call | rename alias name
name names named title label | name id label identifier
nickname shorthand abbreviation short | alias short
address addresses | url address host ip path
number plate identity | id identifier
key keys | key id identifier
ticket badge pass | token session credential
password passphrase login | authentication credential password auth token
sign signs signed signature | sign signature certificate verify
certificate padlock lock encrypted encryption | tls https ssl certificate encryption
trust trusted | trust verify certificate proxy
allowed rights right | permission authorization access
stranger foreign | external cross origin third party
browser web page | browser client html
site sites | url domain website origin
subdomain domain | host domain subdomain
link links linked | url link href reference
picture preview thumbnail | preview image
button click tap press | event click handler
keyboard keypress type | input event
mouse drag | event pointer
window popup dialog modal | modal dialog window portal
box field textbox | input field form
tick checkbox | boolean input
menu dropdown | select options
page pages | page pagination route
scroll endless | scroll infinite pagination
screen display | render view ui
draw paint painted repaint | render
blink flicker flash flickers | flash rerender hydration
theme dark | theme style
pick up picks | load detect
arrive arrives arrived come comes | receive request stream event response
leave leaves goes | exit send
answer answers reply | response reply return
ask asks asking | request query prompt
demand require insist must | required require mandatory force
wish want | option request
promise | promise async
order command instruct | command
obey follow respect honour honor | respect support follow
ignore ignores | ignore skip
notice notices notify | event notify detect listen
hear listen | listen event subscribe
shout announce broadcast | emit publish broadcast event
whisper | debug trace
alarm alert bell ring | notify alert event hook
subscribe follow | subscribe subscription listen
publish release ship | publish release
queue line lineup | queue pending order
crowd many lots plenty several multiple | multiple concurrent many pool
few couple | limit multiple
simultaneous simultaneously parallel | concurrent parallel concurrency
worker workers thread threads core cores cpu | worker thread cluster process
process processes | process worker
memory ram | memory heap buffer
disk drive | file storage disk filesystem
folder folders | directory path
file files | file path
pipe hose tube | pipe stream pipeline
drip trickle piecemeal gradually bit | stream chunk incremental
flow | stream flow
tap | stream hook
plug socket | connection socket plugin
wire cable network | network connection protocol transport
line | connection line
connection connections | connection socket pool agent
hop jump | redirect proxy
detour forwarded | redirect proxy
mirror | proxy mirror registry
relay pass on | proxy forward
follow redirected elsewhere | redirect
translate turn convert becomes become | convert transform
change changes alter | modify transform update change mutate
swap exchange replace | replace override swap
improve tune tuned | optimize performance tuning
repair fix mend heal | fix recover repair
recover survive survives outlive | recover persist retain preserve
undo revert rollback | undo revert rollback reset
restart reboot | restart reload
reload refresh refreshes | reload refresh watch revalidate
update updates | update upgrade
upgrade migrate | upgrade migration breaking
old version obsolete retired | deprecated legacy obsolete
support supported compatible | support compatible version
runtime engine | runtime engine node version
need needs needed require | require requirement dependency peer
depend depends rely | dependency require
install add put | install add register
remove uninstall | uninstall remove
build compile compiled | build compile bundle
pack zip squeeze shrink compress | compress compression gzip minify size
unpack unzip | decompress extract
ship deliver delivery | deploy publish release serve
cloud | deploy serverless provider
serverless lambda function | serverless lambda function
container | docker container
schedule planned | schedule cron
switch toggle flip | option flag enable toggle
setting settings knob preference | option configuration config settings
environment | environment env variable
adopt adopted existing | migrate existing adopt
beginner newcomer | getting started introduction
rule rules law | rule constraint policy schema
policy | policy rule
limit limits cap ceiling | limit max maximum
allowance quota budget | limit quota
exceed exceeds beyond past more | limit exceed max
least minimum | min minimum
price cost money pay | cost pricing usage token
usage consumed | usage count
average | mean average
error errors failure failures | error handler exception failure
catch caught | catch error handler
message messages | message
reason cause why | reason cause error
stack | stack trace error
code number | code status
status | status code
warn warned | warning warn
record recorded | log record
diary journal logbook | log history
history past | history previous
log logs logging | log logger
print prints printed | print log output
output | output print stdout destination
destination target | destination target transport
console terminal screen | stdout console terminal
format looks | format formatter
date | date timestamp time
timestamp | timestamp time
extra additional more another | additional extra extend custom
attach attaches attached stick | attach add bind decorate
extend enrich | extend decorate plugin
property properties | property attribute field
field fields column columns | field property attribute
row rows record | row item record entry list key
table | table
value values | value
type types kind | type
text plain | text string plain raw
raw untouched unparsed | raw buffer
binary bytes byte | binary buffer bytes
upload uploads uploaded attachment | upload multipart file form
download downloads | download file stream
body | body payload
header headers | header
query parameter parameters | query parameter
wildcard star any | wildcard pattern
match matches pattern | match pattern regex route
route routes | route path url
prefix | prefix
version versions | version
hook hooks | hook lifecycle
lifecycle phases step steps stage | lifecycle hook phase step
event events happens happen | event hook
callback | callback handler
function functions | function method
class | class
object | object instance
instance instances | instance
global shared | global shared context
context | context
share state | context state store
state | state
shutdown | close shutdown graceful
graceful gentle gently politely | graceful graceful close
signal | signal abort sigterm
cancel cancelled canceled | abort cancel signal
timeout | timeout
retry | retry
cookie | cookie session
session | session
login | login authentication
cors | cors origin
proxy | proxy
cache | cache
`;

/** Gives the stems that documentation may use where people say a stem. */
export type EverydayWords = (stem: string) => readonly string[];

/** Makes the table of everyday words. */
export function createEverydayWords(): EverydayWords {
  const leads = new Map<string, Set<string>>();
  for (const line of table.trim().split('\n')) {
    const [said = '', written = ''] = line.split('|').map((side) => side.trim());
    for (const stem of said.split(' ').map(toStem)) {
      const known = leads.get(stem) ?? new Set();
      for (const word of written.split(' ')) known.add(toStem(word));
      leads.set(stem, known);
    }
  }
  return (stem) => [...(leads.get(stem) ?? [])].filter((other) => other !== stem);
}
