import { isRawNumber } from '../../../base/json/exact.ts'
import { digest } from '../../digest.ts'
import type { Part, SessionMessage } from '../agent.ts'
import { newHashedMap } from './hashed-map.ts'
import type { Said } from './injected.ts'
import { isObject, textOf } from './json.ts'
import type { Tally } from './tally.ts'

/** A part that can be written. */
export type WrittenPart = Extract<Part, { readonly type: 'text' | 'tool_call' | 'tool_result' }>
type Call = Extract<Part, { readonly type: 'tool_call' }>
type Result = Extract<Part, { readonly type: 'tool_result' }>

/**
 * Parts of one message that stand together: of the assistant texts and calls, of the user results and then texts, of the system one text. `index` is how
 * many pieces of the message come before.
 */
export type Piece = {
  readonly message: Omit<SessionMessage, 'parts'>
  readonly index: number
  readonly role: SessionMessage['role']
  readonly parts: readonly WrittenPart[]
}

/** What the two writers do not share. */
export type Rules = {
  readonly tally: Tally
  /** Whether results stand right after the answer with their calls, or else where they are. */
  readonly resultsFollow: boolean
  /** What the agent's parser makes of the texts of one message of the user. */
  readonly saidIn: (texts: readonly string[]) => readonly Said[]
}

/** The output of a result that is put in for a call that has none. */
export const NO_RESULT = '[no result was recorded]'

/** Stands before a text that the agent would take for one of its own, such as `<system-reminder>`. */
const MARK = '[from the session] '

/**
 * How far behind a call its result is looked for: in so many messages that say something, because an answer may have more calls than that, each with its result
 * in a message of its own, and in so many characters. One that comes later counts as one without a call.
 */
const MOST_AHEAD = 200
const MOST_SIZE = 16 << 20

/** What a part takes in memory beside its text, in characters. */
const PART_SIZE = 512

/** What the programs write as the model of lines of their own. */
const SYNTHETIC = '<synthetic>'

const MOST_NAME = 64

/** Whether every provider takes a name of a tool, or an id. */
export const isFit = (name: string): boolean => name.length <= MOST_NAME && /^[\w-]+$/.test(name)

/** A name that every provider takes, the same for the same name. */
const fitName = (name: string): string => {
  if (isFit(name)) return name
  const clean = name.replaceAll(/[^\w-]/g, '_') || 'unknown'
  return clean.length <= MOST_NAME ? clean : `${clean.slice(0, MOST_NAME - 13)}_${digest(name).slice(0, 12)}`
}

/** The ids of calls: each such that every provider takes it, and no two the same. */
const newCallIds = (tally: Tally) => {
  const used = newHashedMap()
  return (id: string): string => {
    const stem = isFit(id) ? id : `${fitName(id).slice(0, MOST_NAME - 9)}_${digest(id).slice(0, 8)}`
    let fitted = stem
    for (let number = 2; !used.add(fitted); number++) fitted = `${stem.slice(0, MOST_NAME - 9)}-${number}`
    if (fitted !== id) tally.putIn('ids of calls that fit')
    return fitted
  }
}

/** A JSON value with U+FFFD for each lone surrogate. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (!isObject(value) || isRawNumber(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]))
}

/** Matches the JSON of a text with a lone surrogate, and rarely another one. */
const lone = /\\u[dD][89a-fA-F]/

/** A part of a conversation; undefined for one that is left out. */
const writable = (part: Part, tally: Tally): WrittenPart | undefined => {
  if (part.type === 'thinking') tally.leaveOut('thinking')
  if (part.type === 'error') tally.leaveOut('errors of the agent')
  if (part.type === 'thinking' || part.type === 'error') return undefined
  if (part.type === 'text' && textOf(part.content.text) === undefined) return undefined
  const before = JSON.stringify(part.content)
  if (!lone.test(before)) return part
  const content = wellFormed(part.content)
  if (JSON.stringify(content) !== before) tally.putIn('U+FFFD for halves of characters')
  return { ...part, content } as WrittenPart
}

/** A message whose parts wait to be written. */
type Queued = {
  readonly message: Piece['message']
  readonly parts: readonly Waiting[]
  /** How many of its pieces were made. */
  pieces: number
}

/** A part that waits. A call has its result, once that was found. */
type Waiting = {
  readonly part: WrittenPart
  readonly of: Queued
  readonly role: Piece['role']
  result?: Waiting
  isWritten?: true
}

const isOpen = ({ part, result }: Waiting): boolean => part.type === 'tool_call' && result === undefined

/** Queues messages, and pairs calls with their results. */
const newQueue = (tally: Tally) => {
  const idOf = newCallIds(tally)
  /** The last call of each id that has no result yet. */
  const open = new Map<string, Waiting>()
  const waiting: Queued[] = []
  let [size, ahead] = [0, 0]
  const sizeOf = ({ parts }: Queued): number => parts.reduce((sum, { part }) => sum + PART_SIZE + lengthOf(part), 0)
  const saysSomething = ({ parts }: Queued): number => Number(parts.some(({ part: { type } }) => type === 'text'))

  const callOf = (part: Call, of: Queued): Waiting => {
    const { callId, toolName } = part.content
    if (fitName(toolName) !== toolName) tally.putIn('names of tools that fit')
    const content = { ...part.content, callId: idOf(callId), toolName: fitName(toolName) }
    const call: Waiting = { part: { ...part, content }, of, role: 'assistant' }
    open.set(callId, call)
    return call
  }
  /** The result of the call before it, or a text where there is none. */
  const resultOf = (part: Result, of: Queued): readonly Waiting[] => {
    const { callId, output } = part.content
    const call = open.get(callId)
    if (call?.part.type !== 'tool_call') {
      tally.putIn('texts of results that have no call')
      return textOf(output) === undefined ? [] : [{ part: textPart(output), of, role: 'user' }]
    }
    open.delete(callId)
    const { callId: id, toolName } = call.part.content
    call.result = { part: { ...part, content: { ...part.content, callId: id, toolName } }, of, role: 'user' }
    return [call.result]
  }
  const waitingOf = (part: WrittenPart, of: Queued): readonly Waiting[] => {
    if (part.type === 'text') return [{ part, of, role: of.message.role }]
    return part.type === 'tool_call' ? [callOf(part, of)] : resultOf(part, of)
  }

  return {
    add: ({ parts, model, ...others }: SessionMessage): void => {
      const isModel = textOf(model) !== undefined && model !== SYNTHETIC
      const list: Waiting[] = []
      const queued: Queued = { message: { ...others, ...(isModel ? { model: model! } : {}) }, parts: list, pieces: 0 }
      for (const part of parts) {
        const written = writable(part, tally)
        if (written) list.push(...waitingOf(written, queued))
      }
      if (list.length === 0) return tally.leaveOut('messages that had nothing else')
      tally.messages++
      waiting.push(queued)
      size += sizeOf(queued)
      ahead += saysSomething(queued)
    },
    /** The first message, once its results are there, or were waited for long enough; or else what is left, if `isEnd`. */
    take: (isEnd: boolean): Queued | undefined => {
      const [first] = waiting
      if (!first || !(isEnd || !first.parts.some(isOpen) || ahead > MOST_AHEAD || size > MOST_SIZE)) return undefined
      waiting.shift()
      size -= sizeOf(first)
      ahead -= saysSomething(first)
      const late = new Set(first.parts.filter(isOpen))
      if (late.size > 0) for (const [id, call] of open) if (late.has(call)) open.delete(id)
      return first
    },
  }
}

const lengthOf = ({ content }: WrittenPart): number => {
  if ('text' in content) return content.text.length
  return 'output' in content ? content.output.length : JSON.stringify(content.args).length
}

const textPart = (text: string): WrittenPart => ({ type: 'text', content: { text } })

/** A text that the agent would take for its own, as one of the session: also below no heading of an app. */
const marked = (text: string): string => `${MARK}${text.replaceAll(/^## My request/gm, ' ## My request')}`

/**
 * A piece of which the agent's parser takes all texts for what was typed. A message of the system, which the program gives the provider as one of the user,
 * begins with nothing else either.
 */
const asTyped = (piece: Piece, { saidIn, tally }: Rules): Piece => {
  if (piece.role === 'assistant') return piece
  const texts = piece.parts.flatMap((part) => (part.type === 'text' ? [part.content.text] : []))
  const said = texts.length === 0 ? [] : saidIn(texts)
  const isSame = said.every(({ text }, i) => piece.role === 'system' || text === texts[i])
  if (isSame && said.length === texts.length && said.every(({ is }) => is === 'typed')) return piece
  tally.putIn('marks before texts that look like the agent’s own', texts.length)
  const parts = piece.parts.map((part) => (part.type === 'text' ? textPart(marked(part.content.text)) : part))
  return { ...piece, parts }
}

/** Whether a part of the same message may stand in a piece. */
const mayFollow = (piece: Piece, { type }: WrittenPart): boolean =>
  piece.role !== 'system' && (type !== 'tool_result' || piece.parts.at(-1)?.type === 'tool_result')

/** Makes pieces of parts that are added one after another: each is complete once another one begins. */
const newPieces = (rules: Rules) => {
  let last: (Piece & { readonly of: Queued; readonly parts: WrittenPart[] }) | undefined
  const complete = (): readonly Piece[] => {
    const pieces = last ? [asTyped(last, rules)] : []
    last = undefined
    return pieces
  }
  return {
    add: ({ part, of, role }: Pick<Waiting, 'part' | 'of' | 'role'>): readonly Piece[] => {
      if (last?.of === of && last.role === role && mayFollow(last, part)) {
        last.parts.push(part)
        return []
      }
      const pieces = complete()
      last = { message: of.message, of, index: of.pieces++, role, parts: [part] }
      return pieces
    },
    complete,
  }
}

const noResultOf = ({ content: { callId, toolName } }: Call): Result => ({
  type: 'tool_result',
  content: { callId, toolName, output: NO_RESULT, status: 'error' },
})

/** The parts of a message, and the results of its calls, in the order in which they are written. */
function* inOrder({ parts }: Queued, { tally, resultsFollow }: Rules): Generator<Waiting> {
  const calls: Waiting[] = []
  const results = function* (): Generator<Waiting> {
    for (const { part, of, result } of calls.splice(0)) {
      if (result && resultsFollow) {
        result.isWritten = true
        yield result
      }
      if (result) continue
      tally.putIn('results of calls that have none')
      yield { part: noResultOf(part as Call), of, role: 'user' }
    }
  }
  for (const waiting of parts) {
    if (waiting.role !== 'assistant') yield* results()
    if (waiting.part.type === 'tool_call') calls.push(waiting)
    if (!waiting.isWritten) yield waiting
  }
  yield* results()
}

/**
 * A stored session as a conversation that agents' programs and their providers take: in list order, but for results with `resultsFollow`. Each call has one result
 * behind it, each result its call before it; names, ids and texts fit. In memory are at most the messages that wait for results, `MOST_SIZE` characters.
 */
export async function* conversation(
  messages: AsyncIterable<SessionMessage> | Iterable<SessionMessage>,
  rules: Rules,
): AsyncGenerator<Piece> {
  const queue = newQueue(rules.tally)
  const pieces = newPieces(rules)
  const write = function* (isEnd: boolean): Generator<Piece> {
    for (let queued = queue.take(isEnd); queued; queued = queue.take(isEnd))
      for (const waiting of inOrder(queued, rules)) yield* pieces.add(waiting)
  }
  for await (const message of messages) {
    queue.add(message)
    yield* write(false)
  }
  yield* write(true)
  yield* pieces.complete()
}

/** What a piece, or a message that was read, says: a text for each part, by which two conversations are compared. */
export const saidBy = ({
  role,
  model = '',
  parts,
}: Pick<SessionMessage, 'role'> & {
  readonly model?: string | undefined
  readonly parts: readonly Part[]
}): readonly string[] =>
  parts.map(({ type, content }) => {
    const by = role === 'assistant' ? [role, model] : [role]
    if ('args' in content) return JSON.stringify([...by, type, content.toolName, content.args])
    if ('output' in content) return JSON.stringify([...by, type, content.output, content.status])
    return JSON.stringify([...by, type, 'text' in content ? content.text : content.message])
  })
