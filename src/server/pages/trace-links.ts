import { sessionLengthText } from '../../base/for-people.ts'
import { shellWord } from '../../base/escape.ts'
import { isSessionAhead } from '../../base/time-ahead.ts'
import { listedTitleOf, readTrace } from '../../transcript/head.ts'
import type { Child, Links } from '../../transcript/html/links.ts'
import { markup, none } from '../../transcript/html/markup.ts'
import { counted } from '../../transcript/html/output.ts'
import { continuePath, messagePath, tracePath } from './links.ts'
import { canGoOn, type ContinuedTrace } from './trace-continue.ts'

/** The addresses that the rows of a trace link to. */
export const linksOf = (trace: ContinuedTrace, children: ReadonlyMap<string, Child>): Links => {
  const { slug, externalId } = trace
  const whole = (id: string) => messagePath(slug, externalId, id)
  return {
    message: (id) => tracePath(slug, externalId, id),
    whole,
    text: (id, part) => `${whole(id)}?part=${part}`,
    goOn: (id) => (canGoOn(trace) ? { href: continuePath(slug, externalId, id), word: shellWord(id) } : undefined),
    child: (callId) => children.get(callId),
  }
}

/** A session, as the page of its parent shows it. */
const childOf = (slug: string, trace: ReadonlyMap<string, unknown>): Child => {
  const number = (name: string): number | undefined => {
    const value = trace.get(name)
    return typeof value === 'number' ? value : undefined
  }
  const [started, ended] = [number('startedAt'), number('endedAt')]
  const [createdAt = Infinity, updatedAt] = [number('createdAt'), number('updatedAt')]
  const isOff = isSessionAhead({ createdAt, updatedAt, startedAt: started, endedAt: ended })
  const took =
    started !== undefined && ended !== undefined && ended - started >= 1_000 && !isOff
      ? markup`<span>${sessionLengthText(ended - started)}</span>`
      : none
  const facts = markup`<span>${counted(number('messageCount') ?? 0, 'message')}</span>${took}`
  return { path: tracePath(slug, String(trace.get('externalId') ?? '')), title: listedTitleOf(trace), facts }
}

/** A session that a page links to, from the JSON text of its trace. */
export const childIn = (slug: string, text: string): Child => childOf(slug, readTrace(text))

/** The sub-agents of a session, from the JSON texts of their traces, the newest first; and by the calls that have started them. */
export const readChildren = (slug: string, texts: readonly string[]) => {
  const byCall = new Map<string, Child>()
  const all = texts.map((text) => {
    const trace = readTrace(text)
    const child = childOf(slug, trace)
    const callId = trace.get('parentCallId')
    if (typeof callId === 'string' && !byCall.has(callId)) byCall.set(callId, child)
    return child
  })
  return { all, byCall }
}
