import { readFile } from 'node:fs/promises'
import { type ObjectLine, objectLines, type Place } from '../support/lines.ts'
import { parseObject } from '../support/json.ts'

const MAX_DOCUMENT = 32 << 20

/** The records of a session file, in order: a document is a single one (README, rules 4 and 10). */
export async function* entries(
  path: string,
  size: number,
  onMalformed: (line: number) => void,
  at: Place,
  onBytes?: (bytes: Buffer) => void,
): AsyncGenerator<ObjectLine> {
  if (!path.endsWith('.json')) return yield* objectLines(path, size, onMalformed, at, onBytes)
  if (size > MAX_DOCUMENT)
    throw new Error(`a JSON document of ${size >> 20} MiB has to be parsed as a whole: at most 32 MiB are`)
  const text = (await readFile(path, 'utf8')).trim()
  const json = parseObject(text)
  if (json) yield { number: 1, offset: 0, size, ended: true, text, json }
  else if (text !== '') onMalformed(1)
}
