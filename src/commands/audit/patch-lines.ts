import type { Diff } from '../../sync/api/history.ts'

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
