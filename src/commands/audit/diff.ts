import { Command } from 'commander'
import { escapeControls } from '../../cli/escape.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { fitToColumns } from '../../cli/fit-to-columns.ts'
import { printDocument } from '../../cli/output.ts'
import { writeOut } from '../../cli/standard-output.ts'
import type { Diff } from '../../sync/api/history.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { explaining, openHistory } from './history-access.ts'
import { operationText } from './patch-lines.ts'
import { wholeNumber } from './whole-number.ts'

const help: Help = {
  about: `
What changed of a trace and its messages between two revisions, for the members of its namespace:
a line for each member that was added, changed or removed, with its new value. Lines are cut to the
width of a terminal, but not in a pipe or a file.

"tracebook audit log <externalId>" lists the revisions.`,
  examples: [
    ['tracebook audit diff 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --from 12'],
    ['tracebook audit diff 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --from 12 --to 40 --json'],
  ],
  documents: [
    [
      '{"from","to","patch","messages":{"added":[externalId],"updated":[{"externalId","patch"}]}}',
      'the only one; patch: RFC 6902',
    ],
  ],
  exitCodes: {
    0: 'compared, also when nothing differs',
    1: 'the server refused, or more than 64 MiB differ: compare a part with --to',
    2: 'wrong usage, or not logged in',
  },
}

type Options = ClientOptions & { readonly from: number; readonly to?: number }

const heading = (what: string, messages: readonly unknown[]): string[] =>
  messages.length === 0 ? [] : ['', `Messages ${what}: ${messages.length}`]

const linesOf = ({ from, to, patch, messages: { added, updated } }: Diff): string[] => {
  const isSame = patch.length + added.length + updated.length === 0
  return [
    `From revision ${from} to ${to}${isSame ? ': nothing differs' : ''}`,
    ...patch.map((operation) => `  ${operationText(operation)}`),
    ...heading('added', added),
    ...added.map((externalId) => `  ${externalId}`),
    ...heading('changed', updated),
    ...updated.flatMap((message) => [
      `  ${message.externalId}`,
      ...message.patch.map((operation) => `    ${operationText(operation)}`),
    ]),
  ]
}

const printDiff = async (diff: Diff): Promise<void> => {
  const { columns } = process.stdout
  for (const line of linesOf(diff))
    await writeOut(`${columns === undefined ? escapeControls(line) : fitToColumns(line, columns)}\n`)
}

const diff = async (access: Access, options: Options, externalId: string): Promise<number> => {
  const { from, to, namespace } = options
  if (to !== undefined && from > to) throw new UsageError('--from must not be behind --to')
  const { history } = await openHistory(access)
  const query = {
    from: String(from),
    ...(to === undefined ? {} : { to: String(to) }),
    ...(namespace === undefined ? {} : { namespace }),
  }
  const found = await explaining(access.server, { externalId, namespace, isPast: true }, () =>
    history.diff(externalId, query),
  )
  if (options.json) await printDocument(found)
  else await printDiff(found)
  return exitCodes.ok
}

/** `tracebook audit diff` */
export const auditDiffCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('diff')
      .description('Show what changed of a trace between two revisions')
      .argument('<externalId>', 'the trace')
      .requiredOption('--from <revision>', 'the revision to begin with', wholeNumber)
      .option('--to <revision>', 'the revision to end with (default: the last one)', wholeNumber),
    { help, namespace: 'the namespace that the trace is in', run: diff },
  )
