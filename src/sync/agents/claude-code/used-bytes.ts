import { isObject, type Json, parseObject } from '../support/json.ts'
import { type LineForm, parseLine, type ParsedLine } from '../support/lines.ts'

// Raw, these bytes are members: in a text the quotes would be escaped. What they are members of is seen by what is before them.
const RESULT = Buffer.from(',"toolUseResult":')
const DATA = Buffer.from(',"type":"progress","data":')
const UUID = Buffer.from(',"uuid":"')

/**
 * The ends of members that tell whether a line counts, the last one also whether another line is glued to this one. Not with
 * the quote in front: a search that begins with a rare byte takes a seventh of the time.
 */
const NEEDED = ['isMeta":', 'isCompactSummary":', 'isSidechain":'].map((text) => Buffer.from(text))

/** By so many of its first bytes a line is told from others. */
const START = 2_048
const USER = Buffer.from(',"type":"user",')

const CURLY = 0x7d

/** Where the value begins that is not used: what the CLI keeps of a tool's result, and all that is told of progress. */
const unusedFrom = (bytes: Buffer): number | undefined => {
  const start = bytes.subarray(0, START)
  const data = start.indexOf(DATA)
  if (data !== -1) return data + DATA.length
  const result = start.includes(USER) ? bytes.indexOf(RESULT) : -1
  return result === -1 ? undefined : result + RESULT.length
}

/** Whether all that is used of a line is in some of its members. */
const hasAll = ({ type, message, uuid, timestamp, sessionId, isSidechain, cwd, gitBranch }: Json): boolean =>
  [sessionId, cwd, gitBranch, uuid].every((value) => typeof value === 'string') &&
  typeof isSidechain === 'boolean' &&
  (type === 'progress' || (type === 'user' && isObject(message) && typeof timestamp === 'string'))

/** The members before a value that is not used, with an empty one instead; undefined where it is not the line's own. */
const headOf = (bytes: Buffer, from: number): ParsedLine | undefined => {
  const text = `${bytes.toString('utf8', 0, from)}{}}`
  const json = parseObject(text)
  return json && { text, json }
}

/** The last members of a line, from its `uuid` on: undefined where that is not the line's own. */
const tailOf = (rest: Buffer): Json | undefined => {
  const at = rest.lastIndexOf(UUID)
  return at === -1 ? undefined : parseObject(`{${rest.toString('utf8', at + 1)}`)
}

/** A line without a value that is not used; undefined where all of the line has to be looked at. */
const withoutUnused = (bytes: Buffer, from: number): ParsedLine | undefined => {
  const rest = bytes.subarray(from)
  if (rest.at(-1) !== CURLY || NEEDED.some((each) => rest.includes(each))) return undefined
  const head = headOf(bytes, from)
  if (!head) return undefined
  const json = head.json['type'] === 'progress' ? { ...head.json, ...tailOf(rest) } : head.json
  return hasAll(json) ? { text: head.text, json } : undefined
}

/**
 * How the CLI's lines are read: without what is two thirds of their bytes, and of no use here. Lines of another form than those that the
 * CLI writes are read whole. Their text, of which no id is made because they have one, ends where the unused begins.
 */
export const usedBytes: LineForm = {
  parse: (bytes) => {
    const from = unusedFrom(bytes)
    return (from === undefined ? undefined : withoutUnused(bytes, from)) ?? parseLine(bytes)
  },
  enough: (beginning) => {
    const from = unusedFrom(beginning)
    const json = from === undefined ? undefined : headOf(beginning, from)?.json
    const isEnough = json && hasAll(json['type'] === 'progress' ? { uuid: '', ...json } : json)
    return isEnough ? from : undefined
  },
  needed: NEEDED,
}
