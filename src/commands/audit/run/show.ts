import { io } from '../../../cli/io.ts'
import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { printDocument, printLines } from '../../../cli/output.ts'
import type { PastQuery, PastTrace } from '../../../sync/api/history.ts'
import { messageLines } from '../../../tail/message-lines.ts'
import { messageWidth } from '../../../tail/printers.ts'
import type { Access } from '../../support/access.ts'
import { type Message, messagesOf } from '../../support/messages-of.ts'
import { withPastOf } from '../past-of-trace.ts'
import { traceLines } from '../trace-fields.ts'
import type { ClientOptions } from '../../support/client-command.ts'

export type Options = ClientOptions & { readonly revision?: number; readonly at?: string; readonly messages?: boolean }

/** The last time that the service takes: the last revision is that of then. */
const END_OF_TIME = '9'.repeat(15)

const momentOf = ({ revision, at }: Options): PastQuery =>
  revision === undefined ? { at: at ?? END_OF_TIME } : { revision: String(revision) }

const printTrace = (past: PastTrace, json: boolean) =>
  json ? printDocument({ type: 'trace', ...past }) : printLines(traceLines(past))

const printMessage = (message: Message, json: boolean) =>
  json
    ? printDocument({ type: 'message', message })
    : printLines(['', ...messageLines(message, messageWidth(io().stdout))])

export const show = async (given: Access, options: Options, name: string): Promise<number> => {
  const { at, revision, json = false } = options
  if (at !== undefined && revision !== undefined) throw new UsageError('only one of --revision and --at can be given')
  await withPastOf(given, options, name, async ({ externalId, namespace, history }) => {
    const past = await history.trace(externalId, { ...momentOf(options), namespace })
    await printTrace(past, json)
    if (!options.messages) return
    const query = { revision: String(past.revision), namespace }
    for await (const message of messagesOf(history, externalId, query)) await printMessage(message, json)
  })
  return exitCodes.ok
}
