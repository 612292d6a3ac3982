import { isObject, type Json, parseObject } from '../support/json.ts'
import { type LineForm, parseLine, type ParsedLine } from '../support/lines.ts'
import { isKnownLine } from './known-lines.ts'

// As raw bytes these are members of an object: inside of a string the quotes would be escaped. `headOf` finds out of which object.
const RESULT = Buffer.from(',"toolUseResult":')
const DATA = Buffer.from(',"type":"progress","data":')
const UUID = Buffer.from(',"uuid":"')

/**
 * Members that decide whether a line counts; the last one also shows whether another line is glued to this one. Each is searched from
 * its capital on first: a search that begins with a rare byte takes a fifth of the time.
 */
const NEEDED = ['isMeta":', 'isCompactSummary":', 'isSidechain":'].map((name) => ({
  name: Buffer.from(name),
  fromCapital: Buffer.from(name.slice(name.search(/[A-Z]/))),
}))

const isNeeded = (bytes: Buffer): boolean =>
  NEEDED.some(({ name, fromCapital }) => bytes.includes(fromCapital) && bytes.includes(name))

/** The kind of a line shows within its first bytes. */
const START = 2_048
const USER = Buffer.from(',"type":"user",')

const CURLY = 0x7d

/** Where the unused value begins: the CLI's own copy of a tool's result, or the data of a progress line. */
const unusedFrom = (bytes: Buffer): number | undefined => {
  const start = bytes.subarray(0, START)
  const data = start.indexOf(DATA)
  if (data !== -1) return data + DATA.length
  const result = start.includes(USER) ? bytes.indexOf(RESULT) : -1
  return result === -1 ? undefined : result + RESULT.length
}

/** Whether these members of a line are all that is used of it. */
const hasAll = ({ type, message, uuid, timestamp, sessionId, isSidechain, cwd, gitBranch }: Json): boolean =>
  [sessionId, cwd, gitBranch, uuid].every((value) => typeof value === 'string') &&
  typeof isSidechain === 'boolean' &&
  (type === 'progress' || (type === 'user' && isObject(message) && typeof timestamp === 'string'))

/** The members before the unused value, with an empty object in its place; undefined if it is not a member of the line itself. */
const headOf = (bytes: Buffer, from: number): ParsedLine | undefined => {
  const text = `${bytes.toString('utf8', 0, from)}{}}`
  const json = parseObject(text)
  return json && { text, json }
}

/** The last members of a line, from its `uuid` on; undefined if that `uuid` is not a member of the line itself. */
const tailOf = (rest: Buffer): Json | undefined => {
  const at = rest.lastIndexOf(UUID)
  return at === -1 ? undefined : parseObject(`{${rest.toString('utf8', at + 1)}`)
}

/** A line without its unused value; undefined if the whole line has to be parsed. */
const withoutUnused = (bytes: Buffer, from: number): ParsedLine | undefined => {
  const rest = bytes.subarray(from)
  if (rest.at(-1) !== CURLY || isNeeded(rest)) return undefined
  const head = headOf(bytes, from)
  if (!head) return undefined
  const json = head.json['type'] === 'progress' ? { ...head.json, ...tailOf(rest) } : head.json
  return hasAll(json) ? { text: head.text, json } : undefined
}

/**
 * Reads the CLI's lines without their unused values, which are two thirds of all bytes. Lines of any other form are parsed as a
 * whole. The text of a shortened line ends where the unused value begins; no id is made from it, because such lines have one.
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
  isNeeded,
  isRecord: isKnownLine,
}
