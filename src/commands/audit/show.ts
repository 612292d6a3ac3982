import { io } from '../../cli/io.ts'
import { escapeControls } from '../../base/escape.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import { shortTime } from '../../cli/time-text.ts'
import type { PastQuery, PastTrace } from '../../client/api/history.ts'
import { messageLines } from '../../client/tail/message-lines.ts'
import { messageWidth } from '../../client/tail/printers.ts'
import type { Access } from '../support/access.ts'
import { type Message, messagesOf } from '../support/pages.ts'
import { withPastOf } from './history-access.ts'
import type { ClientOptions } from '../support/access.ts'

type Options = ClientOptions & { readonly revision?: number; readonly at?: string; readonly messages?: boolean }

/** The latest time that the service accepts: it selects the last revision. */
const END_OF_TIME = '9'.repeat(15)

const momentOf = ({ revision, at }: Options): PastQuery =>
  revision === undefined ? { at: at ?? END_OF_TIME } : { revision: String(revision) }

const TIMES = new Set(['createdAt', 'updatedAt', 'startedAt', 'endedAt'])

const textOf = (name: string, value: unknown): string => {
  if (TIMES.has(name)) return shortTime(value as number)
  if (name === 'namespace') return (value as PastTrace['trace']['namespace']).slug
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The fields of a trace in two columns; a value of several lines stays in its column. */
const traceLines = ({ trace, revision }: PastTrace): string[] => {
  const fields = Object.entries({ revision, ...trace })
  const width = Math.max(...fields.map(([name]) => name.length)) + 2
  return fields.flatMap(([name, value]) =>
    textOf(name, value)
      .split(/\r?\n/)
      .map((line, i) => `${(i === 0 ? escapeControls(name) : '').padEnd(width)}${escapeControls(line)}`.trimEnd()),
  )
}

const printTrace = (past: PastTrace, json: boolean) =>
  json ? printDocument({ type: 'trace', ...past }) : printLines(traceLines(past))

const printMessage = (message: Message, json: boolean) =>
  json
    ? printDocument({ type: 'message', message })
    : printLines(['', ...messageLines(message, messageWidth(io().stdout))])

export const show = async (given: Access, options: Options, name: string): Promise<number> => {
  const { at, revision, json = false } = options
  if (at !== undefined && revision !== undefined) throw new UsageError('Use only one of --revision and --at.')
  await withPastOf(given, options, name, async ({ externalId, namespace, history }) => {
    const past = await history.trace(externalId, { ...momentOf(options), namespace })
    await printTrace(past, json)
    if (!options.messages) return
    const query = { revision: String(past.revision), namespace }
    for await (const message of messagesOf(history, externalId, query)) await printMessage(message, json)
  })
  return exitCodes.ok
}
