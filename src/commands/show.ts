import { Command } from 'commander'
import { exitCodes } from '../cli/exit.ts'
import { localTime } from '../cli/local-time.ts'
import { type Line, printDocument, shownLine } from '../cli/output.ts'
import { openScreen } from '../cli/pager.ts'
import { newHistoryClient } from '../sync/api/history.ts'
import { traceLink } from '../sync/api/trace-link.ts'
import type { TraceDetail } from '../sync/api/traces.ts'
import { countOf } from '../sync/report/text.ts'
import { messageLines } from '../tail/message-lines.ts'
import { messageWidth } from '../tail/printers.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import { type Found, findTrace, idHelp } from './support/find-trace.ts'
import type { Help } from './support/help.ts'
import { messagesOf } from './support/messages-of.ts'

const help: Help = {
  about: `
Shows a trace: what is known of it, then its messages. Calls of tools, their results and thinking take
one line each; with --full they are shown whole. Public traces need no login.

${idHelp}

On a terminal a long trace is shown in a pager: that of $PAGER, else less. PAGER=cat or --no-pager prints
it straight away. "tracebook export" writes a file; "tracebook tail" goes on with what comes.`,
  examples: [
    ['tracebook show 0192f0c1'],
    ['tracebook show 0192f0c1 --full', 'with all that the tools were given and gave'],
    ['tracebook show https://traces.example.org/@team/0192f0c1', 'by a link'],
    ['tracebook show 0192f0c1 --json', 'for scripts'],
  ],
  documents: [
    ['{"type":"trace","trace"}', 'the trace, as the API shows it'],
    ['{"type":"message","message"}', 'each of its messages in order, with its parts'],
  ],
}

type Options = ClientOptions & { readonly full?: boolean; readonly pager: boolean }

const headLines = (server: string, trace: TraceDetail): Line[] => {
  const { externalId, title, ai_title: made, namespace, visibility, messageCount = 0, createdAt, agentId } = trace
  const { projectName, projectPath, model, modelName = model, gitBranch, updatedAt = createdAt } = trace
  const fields: readonly (readonly [name: string, value: string | undefined])[] = [
    ['id', externalId],
    ['namespace', namespace.slug],
    ['visibility', visibility],
    ['link', visibility === 'public' ? traceLink(server, namespace.slug, externalId) : undefined],
    ['project', projectName ?? projectPath],
    ['branch', gitBranch],
    ['agent', modelName === undefined ? agentId : `${agentId} (${modelName})`],
    ['messages', String(messageCount)],
    ['created', localTime(createdAt)],
    ['changed', localTime(updatedAt)],
  ]
  return [
    { text: title ?? made ?? 'A trace without a title', style: 'head' },
    ...fields.flatMap(([name, value]) =>
      value === undefined ? [] : [{ text: `${name.padEnd(12)}${value}`, style: 'dim' as const }],
    ),
  ]
}

const showDocuments = async (found: Found, messages: ReturnType<typeof messagesOf>): Promise<void> => {
  await printDocument({ type: 'trace', trace: found.trace })
  for await (const message of messages) await printDocument({ type: 'message', message })
}

const showText = async (found: Found, messages: ReturnType<typeof messagesOf>, options: Options): Promise<void> => {
  const { stdout } = process
  const screen = openScreen({ usesPager: options.pager })
  const print = (lines: readonly Line[]) => screen.print(lines.map((line) => shownLine(line, stdout)).join(''))
  const { messageCount = 0 } = found.trace
  try {
    let isRead = await print(headLines(found.access.server, found.trace))
    for await (const message of messages) {
      if (!isRead) return
      isRead = await print([{ text: '' }, ...messageLines(message, messageWidth(stdout), options.full)])
    }
    if (messageCount === 0) await print([{ text: '' }, { text: `It has ${countOf(0, 'message')}.` }])
  } finally {
    await screen.end()
  }
}

const show = async (given: Access, options: Options, name: string): Promise<number> => {
  const found = await findTrace(given, options, name)
  const { access, trace } = found
  const history = newHistoryClient(access.server, await access.token(), noticedTiming)
  const messages = messagesOf(history, trace.externalId, { namespace: trace.namespace.slug })
  await (options.json ? showDocuments(found, messages) : showText(found, messages, options))
  return exitCodes.ok
}

/** `tracebook show`: a trace with its messages. Output and exit codes in its help. */
export const showCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('show')
      .argument('<id>', 'the trace: its id, the beginning of one, or a link')
      .option('--full', 'all that tools were given and gave, and all thinking')
      .option('--no-pager', 'print it straight away'),
    { help, namespace: 'the namespace that the trace is in', run: show },
  )
