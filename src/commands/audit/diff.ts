import { io } from '../../cli/io.ts'
import { escapeControls } from '../../cli/escape.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { fitToColumns } from '../../cli/fit-to-columns.ts'
import { printDocument, writeOut } from '../../cli/output.ts'
import type { Diff } from '../../sync/api/history.ts'
import type { Access } from '../support/access.ts'
import { withPastOf } from './history-access.ts'
import { operationText } from './patch-lines.ts'
import type { ClientOptions } from '../declared/command.ts'

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
  const { columns } = io().stdout
  for (const line of linesOf(diff))
    await writeOut(`${columns === undefined ? escapeControls(line) : fitToColumns(line, columns)}\n`)
}

export const diff = async (given: Access, options: Options, name: string): Promise<number> => {
  const { from, to } = options
  if (to !== undefined && from > to) throw new UsageError(`--from must not be greater than --to, which is ${to}.`)
  const span = { from: String(from), ...(to === undefined ? {} : { to: String(to) }) }
  const found = await withPastOf(given, options, name, ({ externalId, namespace, history }) =>
    history.diff(externalId, { ...span, namespace }),
  )
  if (options.json) await printDocument(found)
  else await printDiff(found)
  return exitCodes.ok
}
