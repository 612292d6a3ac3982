import { exitCodes } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { shortTime } from '../cli/time-text.ts'
import { type Line, printDocument, shownLine } from '../cli/output.ts'
import { openScreen } from '../cli/pager.ts'
import { newHistoryClient } from '../client/api/history.ts'
import { traceLink } from '../client/api/trace-link.ts'
import type { TraceDetail } from '../client/api/traces.ts'
import { costFacts, tokenFacts } from '../base/usage-text.ts'
import { sessionLengthText } from '../base/for-people.ts'
import { AHEAD, isSessionAhead } from '../base/time-ahead.ts'
import { dayOf, messageLines } from '../client/tail/message-lines.ts'
import { messageWidth } from '../client/tail/printers.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { type Found, findTrace } from './support/find-trace.ts'
import { messagesOf } from './support/pages.ts'
import type { ClientOptions } from './support/access.ts'

type Options = ClientOptions & { readonly full?: boolean; readonly pager: boolean }

type Fact = readonly [name: string, value: string | undefined]

/** The tokens; undefined if none are known. */
const usageText = (usage: TraceDetail['usage']): string | undefined => tokenFacts(usage).join(', ') || undefined

/** The facts of the head, in order, by the field that says them; none for a field that another line says, or that is left out. */
const factsOf = (server: string, trace: TraceDetail): readonly Fact[] => {
  const {
    externalId,
    namespace,
    visibility,
    messageCount = 0,
    createdAt,
    agentId,
    parentExternalId,
    parentKind,
  } = trace
  const {
    projectName,
    projectPath,
    model,
    modelName = model,
    gitBranch,
    updatedAt = createdAt,
    startedAt,
    endedAt,
    usage,
    cost,
  } = trace
  const [began, ended] = [startedAt, endedAt].map((time) => Number(JSON.stringify(time))) as [number, number] // may be raw JSON
  const isOff = isSessionAhead({ createdAt, updatedAt, startedAt: began, endedAt: ended })
  const lasted = isOff ? NaN : ended - began
  const facts = {
    externalId: [['id', externalId]],
    namespace: [['namespace', namespace.slug]],
    visibility: [
      ['visibility', visibility],
      ['link', visibility === 'public' ? traceLink(server, namespace.slug, externalId) : undefined],
    ],
    projectName: [['project', projectName ?? projectPath]],
    gitBranch: [['branch', gitBranch]],
    agentId: [['agent', modelName === undefined ? agentId : `${agentId} (${modelName})`]],
    messageCount: [['messages', String(messageCount)]],
    parentExternalId: [[parentKind === undefined || parentKind === 'call' ? 'part of' : 'continues', parentExternalId]],
    startedAt: [
      ['began', startedAt === undefined ? undefined : `${shortTime(startedAt)}${isOff ? ` (${AHEAD})` : ''}`],
    ],
    endedAt: [['took', Number.isNaN(lasted) ? undefined : sessionLengthText(lasted)]],
    usage: [['tokens', usageText(usage)]],
    cost: [['cost', cost && costFacts(cost).join('; ')]],
    createdAt: [['created', shortTime(createdAt)]],
    updatedAt: [['changed', shortTime(updatedAt)]],
    // These are in the lines above.
    title: [],
    ai_title: [],
    projectPath: [],
    model: [],
    modelName: [],
    // Only in `--json`.
    id: [],
    createdBy: [],
    gitRemoteUrl: [],
    gitRef: [],
    parentCallId: [],
    parentKind: [],
    ai_summary: [],
    summaryMessageCount: [],
    messageTypeCounts: [],
    toolTypeCounts: [],
    shape: [],
    childCount: [],
  } as const satisfies { readonly [Name in keyof TraceDetail]-?: readonly Fact[] }
  return Object.values(facts).flat()
}

const headLines = (server: string, trace: TraceDetail): Line[] => [
  { text: trace.title ?? trace.ai_title ?? 'A trace without a title', style: 'head' },
  ...factsOf(server, trace).flatMap(([name, value]) =>
    value === undefined ? [] : [{ text: `${name.padEnd(12)}${value}`, style: 'dim' as const }],
  ),
]

const showDocuments = async (found: Found, messages: ReturnType<typeof messagesOf>): Promise<void> => {
  await printDocument({ type: 'trace', trace: found.trace })
  for await (const message of messages) await printDocument({ type: 'message', message })
}

const showText = async (found: Found, messages: ReturnType<typeof messagesOf>, options: Options): Promise<void> => {
  const { stdout } = io()
  const screen = openScreen({ usesPager: options.pager })
  const print = (lines: readonly Line[]) => screen.print(lines.map((line) => shownLine(line, stdout)).join(''))
  const { messageCount = 0 } = found.trace
  try {
    let isRead = await print(headLines(found.access.server, found.trace))
    let before: string | undefined
    for await (const message of messages) {
      if (!isRead) return
      const day = dayOf(message)
      const date: Line[] = day === undefined || day === before ? [] : [{ text: '' }, { text: day, style: 'head' }]
      before = day ?? before
      isRead = await print([...date, { text: '' }, ...messageLines(message, messageWidth(stdout), options.full)])
    }
    if (messageCount === 0) await print([{ text: '' }, { text: 'The trace has no messages.' }])
  } finally {
    await screen.end()
  }
}

export const show = async (given: Access, options: Options, name: string): Promise<number> => {
  const found = await findTrace(given, options, name)
  const { access, trace } = found
  const history = newHistoryClient(access.server, await access.token(), noticedTiming)
  const messages = messagesOf(history, trace.externalId, { namespace: trace.namespace.slug })
  await (options.json ? showDocuments(found, messages) : showText(found, messages, options))
  return exitCodes.ok
}
