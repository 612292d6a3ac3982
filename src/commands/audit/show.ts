import { Command } from 'commander'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import type { PastQuery, PastTrace } from '../../sync/api/history.ts'
import { messageLines } from '../../tail/message-lines.ts'
import { messageWidth } from '../../tail/printers.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { type Message, messagesOf } from '../support/messages-of.ts'
import { explaining, openHistory } from './history-access.ts'
import { traceLines } from './trace-fields.ts'
import { wholeNumber } from './whole-number.ts'

const help: Help = {
  about: `
A trace as it was after a revision or at a time, for the members of its namespace; without both as it
is now. With --messages its messages of then as well, as "tracebook tail" prints them.

"tracebook audit log <externalId>" lists the revisions. A time is ISO 8601 with a zone, or milliseconds
since 1970. Of the messages that were written by one request, all are shown.`,
  examples: [
    ['tracebook audit show 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --revision 12'],
    ['tracebook audit show 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --at 2026-01-31T12:00:00Z --messages'],
    ['tracebook audit show 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --json'],
  ],
  documents: [
    ['{"type":"trace","trace","revision"}', 'the trace, as the API shows it'],
    ['{"type":"message","message"}', 'with --messages, each of them, with its parts'],
  ],
  exitCodes: {
    0: 'shown',
    1: 'the server refused, or the trace was not there then',
    2: 'wrong usage, or not logged in',
  },
}

type Options = ClientOptions & { readonly revision?: number; readonly at?: string; readonly messages?: boolean }

/** The last time that the service takes: the last revision is that of then. */
const END_OF_TIME = '9'.repeat(15)

const momentOf = ({ revision, at }: Options): PastQuery =>
  revision === undefined ? { at: at ?? END_OF_TIME } : { revision: String(revision) }

const printTrace = (past: PastTrace, json: boolean) =>
  json ? printDocument({ type: 'trace', ...past }) : printLines(traceLines(past))

const printMessage = (message: Message, json: boolean) =>
  json
    ? printDocument({ type: 'message', message })
    : printLines(['', ...messageLines(message, messageWidth(process.stdout))])

const show = async (access: Access, options: Options, externalId: string): Promise<number> => {
  const { at, revision, namespace, json = false } = options
  if (at !== undefined && revision !== undefined) throw new UsageError('only one of --revision and --at can be given')
  const { history } = await openHistory(access)
  const of = namespace === undefined ? {} : { namespace }
  await explaining(access.server, { externalId, namespace, isPast: true }, async () => {
    const past = await history.trace(externalId, { ...momentOf(options), ...of })
    await printTrace(past, json)
    if (!options.messages) return
    const query = { revision: String(past.revision), ...of }
    for await (const message of messagesOf(history, externalId, query)) await printMessage(message, json)
  })
  return exitCodes.ok
}

/** `tracebook audit show` */
export const auditShowCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('show')
      .description('Show a trace as it was')
      .argument('<externalId>', 'the trace')
      .option('--revision <revision>', 'as it was after this revision', wholeNumber)
      .option('--at <time>', 'as it was at this time')
      .option('--messages', 'with its messages'),
    { help, namespace: 'the namespace that the trace is in', run: show },
  )
