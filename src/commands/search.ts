import { escapeControls } from '../base/escape.ts'
import { LISTED_TITLE, truncateLine } from '../base/texts.ts'
import { exitCodes } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { type Line, printDocument, printLines, say } from '../cli/output.ts'
import { localTimeZone, shortTime } from '../cli/time-text.ts'
import { pagesOf } from '../client/api/pages.ts'
import { type AnswerOf, newRequests } from '../client/api/requests.ts'
import { hasStatus } from '../client/api/errors.ts'
import { traceLink } from '../client/api/trace-link.ts'
import { type TraceDetail, type TracesClient, newTracesClient } from '../client/api/traces.ts'
import { AHEAD, isSessionAhead, timeOrArrival } from '../base/time-ahead.ts'
import { type Access, noticedTiming, requireNotLost } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

type Options = ClientOptions & {
  readonly limit: number
  readonly newest?: boolean
  /** In milliseconds; `since` is inclusive, `until` exclusive. */
  readonly since?: number
  readonly until?: number
}

type Answer = AnswerOf<'GET /v1/search'>
type Result = Answer['results'][number]
type Hit = Result['hits'][number]

const MAX_PAGE = 100

/** The address of what was found: of the message in the page of its trace. */
const linkOf = (server: string, { trace }: Result, { messageExternalId: message }: Hit): string =>
  traceLink(server, trace.namespace.slug, trace.externalId, message)

/** On one line: each line break or tab becomes a space, so that marks stay where they are. */
const oneLine = (text: string) => text.replaceAll(/\s/g, ' ')

const hitLines = (server: string, result: Result, hit: Hit): Line[] => {
  const { text, marks } = hit.snippet
  const before = `  ${hit.role ?? 'session'}: `
  return [
    {
      text: before + oneLine(text),
      marks: marks.map(([start, end]) => [start + before.length, end + before.length] as const),
    },
    { text: `  ${linkOf(server, result, hit)}`, style: 'dim' },
  ]
}

/** Gives the session that started a sub-agent, if the login may read it; each is asked for once. */
const newParents = (traces: TracesClient) => {
  const asked = new Map<string, Promise<TraceDetail | undefined>>()
  const ask = (externalId: string, slug: string) =>
    traces.trace(externalId, slug).catch((error: unknown) => {
      if (hasStatus(error, 308, 401, 404)) return undefined
      throw error
    })
  return ({ trace }: Result): Promise<TraceDetail | undefined> | undefined => {
    const { externalId, parentExternalId, parentKind = 'call', namespace } = trace
    if (parentExternalId === undefined || parentKind !== 'call' || parentExternalId === externalId) return undefined
    const key = `${namespace.slug}/${parentExternalId}`
    const answer = asked.get(key) ?? ask(parentExternalId, namespace.slug)
    asked.set(key, answer)
    return answer
  }
}

const parentLines = (server: string, parent: TraceDetail | undefined): Line[] => {
  if (!parent) return []
  const { title, ai_title: made, externalId, namespace } = parent
  const link = traceLink(server, namespace.slug, externalId)
  return [{ text: `  sub-agent of ${truncateLine(title ?? made ?? externalId, LISTED_TITLE)}  ${link}`, style: 'dim' }]
}

const resultLines = (server: string, result: Result, parent: TraceDetail | undefined): Line[] => {
  const { trace, hits, more } = result
  const { title, ai_title: made, agentId, author, createdAt, startedAt, namespace } = trace
  const when = shortTime(timeOrArrival(startedAt, createdAt))
  const about = [
    isSessionAhead(trace) ? `${when} (${AHEAD})` : when,
    agentId,
    author?.displayName,
    `@${namespace.slug}`,
  ]
  return [
    { text: truncateLine(title ?? made ?? trace.externalId, LISTED_TITLE), style: 'head' },
    { text: `  ${about.filter((one) => one !== undefined).join('  ')}`, style: 'dim' },
    ...parentLines(server, parent),
    ...hits.flatMap((hit) => hitLines(server, result, hit)),
    ...(more > 0 ? [{ text: `  and ${more} more`, style: 'dim' } as const] : []),
    { text: '' },
  ]
}

/** Prints what was found in what the login may read; without a login, in what is public. */
export const searchAll = async (access: Access, options: Options, words: readonly string[]): Promise<number> => {
  const { server, namespace } = access
  await requireNotLost(access)
  const token = await access.token()
  const { call } = newRequests(server, token, { timing: noticedTiming })
  const parentOf = newParents(newTracesClient(server, token, noticedTiming))
  const tz = localTimeZone()
  const query = {
    q: words.join(' '),
    tz,
    sort: options.newest ? 'newest' : 'relevance',
    namespace,
    ...(options.since === undefined ? {} : { from: String(options.since) }),
    ...(options.until === undefined ? {} : { to: String(options.until - 1) }), // the API's `to` is inclusive
  } as const
  let [shown, hasMore] = [0, false]
  const read = (cursor: string | undefined) => {
    const limit = String(Math.min(MAX_PAGE, options.limit - shown))
    return call('GET /v1/search', { query: { ...query, limit, cursor } })
  }
  let isFirst = true
  let fields: Answer['meant'] = []
  for await (const { results, nextCursor, notUnderstood = [], meant = [] } of pagesOf(read)) {
    if (isFirst)
      for (const { text, why } of notUnderstood) say(`${escapeControls(text)} was left out: ${escapeControls(why)}.`)
    isFirst = false
    fields = meant
    for (const result of results) {
      if (options.json) await printDocument({ type: 'result', ...result })
      else await printLines(resultLines(server, result, await parentOf(result)))
    }
    shown += results.length
    hasMore = nextCursor !== undefined
    if (shown >= options.limit) break
  }
  if (options.json) return exitCodes.ok
  if (shown === 0) {
    say(`Nothing was found for ${escapeControls(query.q)}. Words must all occur in one message.`)
    for (const { text, instead } of fields) say(`Instead of ${escapeControls(text)} try ${escapeControls(instead)}.`)
  }
  if (shown > 0 && hasMore && io().stdout.isTTY)
    say(`There is more. To see it, run: ${commandName} search --limit ${options.limit * 2} …`)
  return exitCodes.ok
}
