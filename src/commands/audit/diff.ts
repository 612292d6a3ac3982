import { escapeControls } from '../../base/escape.ts'
import { exitCodes, UsageError } from '../../cli/exit.ts'
import { fitToColumns } from '../../cli/fit-to-columns.ts'
import { io, widthOf } from '../../cli/io.ts'
import { printDocument, writeOut } from '../../cli/output.ts'
import type { Diff } from '../../client/api/history.ts'
import type { ClientOptions } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { withPastOf } from './history-access.ts'

type Operation = Diff['patch'][number]

/** What a JSON pointer names, in words: `parts/2` is `part 2`. */
const nameOf = (path: string): string => {
  const names = path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [first, second] = names
  if (first === 'parts' && second !== undefined)
    return second === '-' ? 'a part' : ['part', ...names.slice(1)].join(' ')
  return names.length === 0 ? 'everything' : names.join('/')
}

/** An operation of a patch in words, with its value, on one line. */
export const operationText = (operation: Operation): string => {
  const name = nameOf(operation.path)
  if (operation.op === 'remove') return `removed ${name}`
  const value = JSON.stringify(operation.value)
  return operation.op === 'add' ? `added ${name}: ${value}` : `changed ${name} to ${value}`
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
  const columns = widthOf(io().stdout)
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
