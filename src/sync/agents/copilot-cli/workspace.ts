import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { storedTitle } from '../support/title.ts'

/** Such a file has some hundred bytes. */
const MAX_BYTES = 1 << 16

/** Where a comment begins in a value without quotes; its end where there is none. */
const commentIn = (value: string): number => {
  if (value.startsWith('#')) return 0
  const found = value.search(/\s#/)
  return found === -1 ? value.length : found
}

const unquoted = (value: string): string => {
  if (/^'.*'$/s.test(value)) return value.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/s.test(value)) return value.slice(0, commentIn(value))
  try {
    return String(JSON.parse(value))
  } catch {
    return value.slice(1, -1)
  }
}

/** The value of the key `name` of a document in YAML, which may go on in lines that are indented. */
export const nameIn = (yaml: string): string | undefined => {
  const lines = yaml.split(/\r?\n/)
  const first = lines.findIndex((line) => /^name:(?:\s|$)/.test(line))
  if (first === -1) return undefined
  const end = lines.findIndex((line, index) => index > first && /^\S/.test(line))
  const [head, ...rest] = lines.slice(first, end === -1 ? undefined : end).map((line) => line.trim())
  const value = head!.slice('name:'.length).trim()
  // The whole is in the lines below.
  const isBlock = /^[|>][-+\d]*$/.test(value)
  const text = [...(isBlock ? [] : [value]), ...rest].filter((line) => line !== '').join(' ')
  const name = isBlock ? text : unquoted(text)
  return /^(?:~|null)$/i.test(name) && !/^['"]/.test(text) ? undefined : name
}

/** The name of the session whose events are at `path`, from the `workspace.yaml` beside them (README, rule 10). */
export const workspaceName = (path: string): string | undefined => {
  if (basename(path) !== 'events.jsonl') return undefined
  const file = join(dirname(path), 'workspace.yaml')
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() && stats.size <= MAX_BYTES ? storedTitle(nameIn(readFileSync(file, 'utf8'))) : undefined
  } catch {
    return undefined
  }
}
