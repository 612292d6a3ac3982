import type { TraceDetail } from '../contract/trace.ts'
import { agentName } from './agent-names.ts'
import { costFacts, costText, shortTokenFacts, tokenFacts } from '../base/usage-text.ts'
import { sessionLengthText } from '../base/for-people.ts'
import { truncateLine } from '../base/texts.ts'
import { AHEAD, isSessionAhead } from '../base/time-ahead.ts'
import { rawMembers } from '../base/json/raw-values.ts'
import { isoText, timeText } from './times.ts'
import { visibleLine } from './visible.ts'

/** The head of a transcript: the facts about its trace. */
export type Head = {
  readonly title: string
  /** Each on one line, in the order of the head. */
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  readonly lead: Lead
  /** Who wrote the prompts, if that is known. */
  readonly author: string | undefined
  readonly folder: string | undefined
  readonly model: { readonly id: string | undefined; readonly name: string | undefined }
}

/** The facts that a reader wants to know first; undefined ones are not known. */
type Lead = {
  readonly day: string | undefined
  readonly began: { readonly iso: string; readonly text: string } | undefined
  readonly took: string | undefined
  readonly agent: string | undefined
  readonly model: string | undefined
  /** Project and branch. */
  readonly place: string | undefined
  readonly counts: readonly { readonly count: string; readonly name: string; readonly isBad?: boolean }[]
  /** What the session has used and cost. */
  readonly used: readonly string[]
}

/** The names of a trace's members in the head; undefined if they are not a fact of their own. */
const names = {
  agentId: 'Agent',
  modelName: 'Model',
  model: 'Model id',
  projectName: 'Project',
  projectPath: 'Folder',
  gitRemoteUrl: 'Repository',
  gitBranch: 'Branch',
  gitRef: 'Commit',
  externalId: 'Session',
  visibility: 'Visibility',
  messageCount: 'Messages',
  // These two are in the title.
  title: undefined,
  ai_title: undefined,
  // Among the times.
  createdAt: undefined,
  startedAt: undefined,
  endedAt: undefined,
  // Useless without the service, or shown by the messages themselves.
  id: undefined,
  namespace: undefined,
  createdBy: undefined,
  updatedAt: undefined,
  parentExternalId: undefined,
  parentCallId: undefined,
  parentKind: undefined,
  ai_summary: undefined,
  summaryMessageCount: undefined,
  messageTypeCounts: undefined,
  toolTypeCounts: undefined,
  shape: undefined,
  childCount: undefined,
  // In words, behind these.
  usage: undefined,
  cost: undefined,
} as const satisfies { readonly [Name in keyof TraceDetail]-?: string | undefined }

/** The title of a trace: its own, otherwise the one that the service has made, otherwise its id. */
export const titleOf = (trace: ReadonlyMap<string, unknown>): string => {
  const titles = ['title', 'ai_title', 'externalId'].map((name) => trace.get(name))
  const title = titles.map((one) => (typeof one === 'string' ? visibleLine(one) : '')).find((one) => one !== '')
  return title ?? 'Session'
}

/** The most characters of a title where it is one of many. */
const MOST_LISTED = 160

/** The title of a trace where it is one of many. */
export const listedTitleOf = (trace: ReadonlyMap<string, unknown>): string => truncateLine(titleOf(trace), MOST_LISTED)

/** The members of a trace, as in the API, from its JSON text. */
export const readTrace = (json: string): ReadonlyMap<string, unknown> =>
  new Map([...rawMembers(json)].map(({ key, value }) => [key, JSON.parse(value) as unknown]))

type Trace = ReadonlyMap<string, unknown>

const textIn = (trace: Trace, name: string): string | undefined => {
  const value = trace.get(name)
  const text = typeof value === 'string' ? visibleLine(value) : ''
  return text === '' ? undefined : text
}

const timeIn = (trace: Trace, name: string): number | undefined => {
  const value = trace.get(name)
  return typeof value === 'number' && isoText(value) !== undefined ? value : undefined
}

const numbersIn = (value: unknown): ReadonlyMap<string, number> =>
  new Map(
    typeof value === 'object' && value !== null
      ? Object.entries(value).filter(([, one]) => typeof one === 'number')
      : [],
  )

const DAY = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
const dayText = (ms: number) => DAY.format(ms).replace(',', '')
const clockText = (ms: number) => new Date(ms).toISOString().slice(11, 16)

/** When a session was: `15:04 – 17:09 UTC`, with the day of its end if that is another one. */
const spanText = (from: number, to: number | undefined): string => {
  if (to === undefined || clockText(from) === clockText(to)) return `${clockText(from)} UTC`
  const day = dayText(from) === dayText(to) ? '' : `${dayText(to)}, `
  return `${clockText(from)} – ${day}${clockText(to)} UTC`
}

const SHORTEST_MS = 1_000

/** Whether times of a session are too far ahead of those of the service. */
const isOff = (trace: Trace): boolean => {
  const createdAt = timeIn(trace, 'createdAt')
  const [updatedAt, startedAt, endedAt] = ['updatedAt', 'startedAt', 'endedAt'].map((name) => timeIn(trace, name))
  return createdAt !== undefined && isSessionAhead({ createdAt, updatedAt, startedAt, endedAt })
}

const timesOf = (trace: Trace): Pick<Lead, 'day' | 'began' | 'took'> => {
  const started = timeIn(trace, 'startedAt')
  const from = started ?? timeIn(trace, 'createdAt')
  if (from === undefined) return { day: undefined, began: undefined, took: undefined }
  const ended = started === undefined ? undefined : timeIn(trace, 'endedAt')
  if (isOff(trace))
    return {
      day: dayText(from),
      began: { iso: isoText(from)!, text: `${spanText(from, undefined)}, ${AHEAD}` },
      took: undefined,
    }
  const took = ended === undefined || ended - from < SHORTEST_MS ? undefined : sessionLengthText(ended - from)
  const text = started === undefined ? `stored ${spanText(from, undefined)}` : spanText(from, ended)
  return { day: dayText(from), began: { iso: isoText(from)!, text }, took }
}

const countsOf = (trace: Trace): Lead['counts'] => {
  const shape = numbersIn(trace.get('shape'))
  const tools = [...numbersIn(trace.get('toolTypeCounts')).values()].reduce((sum, one) => sum + one, 0)
  const prompts = shape.get('prompts') ?? numbersIn(trace.get('messageTypeCounts')).get('user_message') ?? 0
  const messages = trace.get('messageCount')
  return [
    { count: prompts, name: 'prompt' },
    { count: shape.get('calls') ?? tools, name: 'tool call' },
    { count: shape.get('failed') ?? 0, name: 'failed', isBad: true },
    { count: shape.get('files') ?? 0, name: 'file' },
    { count: typeof messages === 'number' ? messages : 0, name: 'message' },
  ].flatMap(({ count, name, ...rest }) =>
    count > 0
      ? [{ count: count.toLocaleString('en'), name: count === 1 || name === 'failed' ? name : `${name}s`, ...rest }]
      : [],
  )
}

/** What a trace has used and cost, as the service shows it. */
const usedBy = (trace: Trace) => ({
  usage: trace.get('usage') as TraceDetail['usage'],
  cost: trace.get('cost') as TraceDetail['cost'],
})

const usageFacts = (trace: Trace): Head['facts'] => {
  const { usage, cost } = usedBy(trace)
  const tokens = tokenFacts(usage).join(', ')
  return [
    ...(tokens === '' ? [] : [{ name: 'Tokens', value: tokens }]),
    ...(cost ? [{ name: 'Cost', value: visibleLine(costFacts(cost).join('; ')) }] : []),
  ]
}

const shortUsage = (trace: Trace): string[] => {
  const { usage, cost } = usedBy(trace)
  return [...shortTokenFacts(usage), ...(cost ? [costText(cost)] : [])]
}

const leadOf = (trace: Trace): Lead => {
  const place = ['projectName', 'gitBranch'].flatMap((name) => textIn(trace, name) ?? []).join(' @ ')
  const agent = textIn(trace, 'agentId')
  return {
    ...timesOf(trace),
    agent: agent === undefined ? undefined : agentName(agent),
    model: textIn(trace, 'modelName') ?? textIn(trace, 'model'),
    place: place === '' ? undefined : place,
    counts: countsOf(trace),
    used: shortUsage(trace),
  }
}

const authorOf = (trace: Trace): string | undefined => {
  const author = trace.get('author')
  const name = typeof author === 'object' && author !== null && 'displayName' in author ? author.displayName : undefined
  return typeof name === 'string' && name !== '' ? visibleLine(name) : undefined
}

/** The part above the messages. */
export const headOf = (trace: Trace): Head => {
  const facts = Object.entries(names).flatMap(([key, name]) => {
    const value = name === undefined ? undefined : trace.get(key)
    const text = typeof value === 'string' ? visibleLine(value) : typeof value === 'number' ? String(value) : ''
    return name === undefined || text === '' ? [] : [{ name, value: text }]
  })
  const [startedAt, endedAt, createdAt] = ['startedAt', 'endedAt', 'createdAt'].map((name) => timeIn(trace, name))
  const isAhead = isOff(trace)
  const took =
    startedAt === undefined || endedAt === undefined || isAhead ? undefined : sessionLengthText(endedAt - startedAt)
  const began = timeText(startedAt)
  const times = {
    Began: isAhead && began !== undefined ? `${began} (${AHEAD})` : began,
    Took: took,
    Stored: timeText(createdAt),
  }
  const shown = Object.entries(times).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
  return {
    title: titleOf(trace),
    facts: [...facts, ...usageFacts(trace), ...shown],
    lead: leadOf(trace),
    author: authorOf(trace),
    folder: textIn(trace, 'projectPath'),
    model: { id: textIn(trace, 'model'), name: textIn(trace, 'modelName') },
  }
}
