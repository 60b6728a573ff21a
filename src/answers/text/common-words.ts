const split = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Words that say nothing about what is asked for. */
export const stopWords: ReadonlySet<string> = split(`
a about above after all already also although am an and another any anybody anyone anything anyway are aren as at
be because been before being below between both but by can cannot could couldn d did didn do does doesn doing don done
each either else ever every everybody everyone everything few for from further get gets getting got had has hasn have
haven having he her here hers him his how however i if in instead into is isn it its itself just let lets ll m may me
might mine more most much must my myself need needs neither never no nobody none nor not nothing of off often on once
one ones only onto or other others otherwise our ours out over own per perhaps please possible put quite rather re
really s same see shall she should shouldn since so some somebody someone something somehow somewhere still such t
than that the their theirs them then there these they thing things this those though through thus to together too
toward towards under until up upon us use used user uses using ve very via want wants was wasn way ways we were weren
what whatever when whenever where wherever whether which while who whoever whom whose why will with within without
would wouldn yes yet you your yours yourself again during exactly certain somebody come comes came coming people person less longer behind
at hardly entirely simply actually currently properly automatically thereby upon
`);

/** Words that say a little: most pages have them. */
export const weakWords: ReadonlySet<string> = split(`
add allow allowed avoid available bring call called certain change changed come comes copy create current define
different documented documentation docs explain explained exist exists find first follow full general give given gives
go goes going guide happen happens hold keep kept kind know last leave like list look looks made make makes making mean
means new next note number old part place point provide provides result right run running runs say says second send
set sets setting several show shown shows side simple single small special start stay support supported take taken
takes tell tells times tried try turn two type value various want work working works write written default example examples
`);

/** Words that begin a part of a question that could stand alone. */
export const askingWords: ReadonlySet<string> = split(
  'how what which where when why who can is are does do should',
);

/** Words that begin an order, as in “list the branches”. */
export const orderingWords: ReadonlySet<string> = split(`
abort accept add allow animate announce answer apply ask assign attach avoid bind block build cache call cancel carry
catch change check choose clean clear close collect combine commit compare compile compress compute configure connect
convert copy count create cut debug decode decrypt define delete deny deploy describe detect disable display download
draw drop edit embed emit enable encode encrypt end enforce ensure escape evaluate expand explain export expose extend
extract fetch fill filter find fix flush follow force fork format forward freeze gather generate get give grant group
guard handle hash hide hold ignore import inherit inject insert inspect install invoke join jump keep launch learn
limit link lint list listen load localize lock log look lower maintain make manage map mark mask match measure merge
migrate mirror mock monitor mount move mute name navigate nest notify observe omit open order override pad paginate
parse partition pass patch pause pick pin pipe poll prefetch prepare prevent preview print process protect provide
prune publish pull purge push put query raise rank read receive reconnect record recover redact redirect reduce
refresh refuse register reject release reload remember remove rename render reorder repair repeat replace reply report
request require rerank resend reset resize resolve restart restore restrict resume retry return reuse reveal revert
rewrite roll rotate route run sample save scale scan schedule search see select send separate serialize serve set
share show shrink shut sign silence simulate skip slice sort spawn split start stash stop store stream strip stub
style submit subscribe substitute summarize supply suppress swap switch sync tag tail tell test throttle throw time
track transcribe transform translate trigger trim truncate trust try turn type undo unlock unpack unregister unstage
unwrap update upgrade upload use validate verify view wait warm warn watch wipe wrap write zip
`);
