import { comparable } from '../../base/folded.ts'
import { trimEndMatching } from '../../base/texts.ts'
import type { FeedTrace } from '../../contract/feed.ts'
import type { Hit, SearchResult } from '../../contract/search.ts'
import { TRACE_ITSELF } from '../../tables/search.ts'
import { type FoundTrace, shownText } from './rank.ts'
import { snippetOf } from './snippet.ts'
import type { FoundDoc } from './verify.ts'

/** The most hits that are shown of a trace. */
const MOST_HITS = 3

/** What a text says, whatever its white space and case; without the ellipsis of one that was shortened. */
const saidIn = (text: string): string => trimEndMatching(comparable(text).replaceAll(/\s+/g, ' '), /[\s.]/)

const isOfTrace = ({ ordinal }: FoundDoc): boolean => ordinal === TRACE_ITSELF

/** Whether messages say all that was found in a trace itself, as the first prompt does of which a title was made. */
const isSaidIn = (messages: readonly FoundDoc[], ofTrace: FoundDoc): boolean => {
  const texts = messages.flatMap(({ found }) => found.map(({ text }) => saidIn(text.text)))
  return ofTrace.found.every(({ text }) => texts.some((one) => one.includes(saidIn(text.text))))
}

const hitOf = ({ ordinal, externalId, role, at, found }: FoundDoc): Hit => {
  const { text, marks } = shownText(found)
  const { text: shown, marks: inside } = snippetOf(text, marks)
  return {
    ...(externalId === undefined ? {} : { messageExternalId: externalId, ordinal }),
    ...(role === undefined ? {} : { role }),
    ...(text.part === undefined ? {} : { part: text.part }),
    in: text.place,
    at,
    snippet: { text: shown, marks: inside.map(([start, end]) => [start, end]) },
  }
}

/** A trace with its best hits, without one in the trace itself that only says what a message among them says. */
export const resultOf = ({ docs, count }: FoundTrace, trace: FeedTrace): SearchResult => {
  const messages = docs.filter((doc) => !isOfTrace(doc)).slice(0, MOST_HITS)
  const own = docs.filter((doc) => !isOfTrace(doc) || !isSaidIn(messages, doc))
  const hits = own.slice(0, MOST_HITS).map((doc) => hitOf(doc))
  return { trace, hits, more: count - (docs.length - own.length) - hits.length }
}
