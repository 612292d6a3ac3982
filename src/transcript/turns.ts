import type { Message, Part, Result, Role } from './message.ts'

/** A call with its result; `later` if that may come after other messages, `none` if the trace has none. */
export type Answered = {
  readonly is: 'call'
  readonly call: Extract<Part, { type: 'tool_call' }>
  readonly result: Result | 'later' | 'none'
}

/** A shown part of a message. A result without its call is shown by itself. */
export type Shown = Answered | Exclude<Part, { type: 'tool_call' }>

/** A message as the transcript shows it. A user message without text, such as one with results of tools, is not a prompt. */
export type Turn = {
  /** The externalId of the message. */
  readonly id: string
  /** Its place in the list of messages, from 0. */
  readonly ordinal: number
  /** How many prompts there are up to here. */
  readonly prompts: number
  readonly kind: 'prompt' | 'answer' | 'context'
  readonly model: string | undefined
  readonly timestamp: number | undefined
  readonly shown: readonly Shown[]
}

/** Whether a turn shows a message, or results that came in it. */
export const isAbout = ({ id, shown }: Turn, messageId: string): boolean =>
  id === messageId ||
  shown.some((one) => 'is' in one && typeof one.result === 'object' && one.result.messageId === messageId)

/** Renders the turns of a session in one format, piece by piece. No piece takes long. */
export type Renderer = {
  start(): string
  turn(turn: Turn): Iterable<string>
  end(): Iterable<string>
}

/**
 * The most further messages, and characters of them, for which a message waits for the results of its calls. Whether a result is shown under
 * its call depends only on the messages between them. So a part of a session shows the same as the whole does, if this many messages before
 * and after the part are read too.
 */
export const MOST_WAITING = 64
const MOST_WAITING_CHARACTERS = 1024 * 1024

type Waiting = {
  readonly message: Message
  /** How many characters of messages were received up to the end of this one. */
  readonly end: number
  readonly ordinal: number
  readonly prompts: number
  /** Results by the index of the call. */
  readonly results: Map<number, Result>
  /** Parts that are shown under a call instead. */
  readonly moved: Set<number>
  /** How many of its calls have no result yet. */
  open: number
}

const kinds: Readonly<Record<Role, Turn['kind']>> = { user: 'prompt', assistant: 'answer', system: 'context' }

/** Whether a part has nothing to show. */
const isBlank = (part: Part): boolean => (part.type === 'text' || part.type === 'thinking') && !/\S/.test(part.text)

const hasText = ({ textContent = '', parts }: Message): boolean =>
  [textContent, ...parts.map((part) => (part.type === 'text' ? part.text : ''))].some((text) => /\S/.test(text))

const kindOf = (message: Message): Turn['kind'] =>
  message.role === 'user' && !hasText(message) ? 'answer' : kinds[message.role]

/** Whether the page of the session numbers a message as a prompt. */
export const isPrompt = (message: Message): boolean => kindOf(message) === 'prompt'

/** The text of a message beside its parts, unless they repeat it. */
export const ownText = ({ textContent, parts }: Message): Part[] => {
  if (textContent === undefined || textContent.trim() === '') return []
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const repeats = texts.includes(textContent) || ['', '\n', '\n\n'].some((gap) => texts.join(gap) === textContent)
  return repeats ? [] : [{ type: 'text', text: textContent }]
}

/**
 * Moves the results of tools to their calls, message by message, with bounded memory.
 * @param first the place of the first message that is added, and the number of prompts before it
 */
export const newTurns = (first: Pick<Turn, 'ordinal' | 'prompts'> = { ordinal: 0, prompts: 0 }) => {
  let waiting: Waiting[] = []
  let { ordinal, prompts } = first
  let received = 0
  const openCalls = new Map<string, { turn: Waiting; index: number }[]>()

  const attach = (result: Result): boolean => {
    const calls = openCalls.get(result.callId)
    const first = calls?.shift()
    if (!calls || !first) return false
    if (calls.length === 0) openCalls.delete(result.callId)
    first.turn.results.set(first.index, result)
    first.turn.open -= 1
    return true
  }

  const enter = (message: Message, length: number) => {
    received += length
    if (isPrompt(message)) prompts += 1
    const turn: Waiting = { message, end: received, ordinal, prompts, results: new Map(), moved: new Set(), open: 0 }
    ordinal += 1
    for (const [index, part] of message.parts.entries()) {
      if (part.type === 'tool_result' && attach(part)) turn.moved.add(index)
      if (part.type !== 'tool_call') continue
      turn.open += 1
      const others = openCalls.get(part.callId)
      if (others) others.push({ turn, index })
      else openCalls.set(part.callId, [{ turn, index }])
    }
    waiting.push(turn)
  }

  /** Closes the calls of a turn that is shown now. */
  const forget = (turn: Waiting) => {
    if (turn.open === 0) return
    const ids = new Set(turn.message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : [])))
    for (const id of ids) {
      const rest = openCalls.get(id)?.filter((open) => open.turn !== turn) ?? []
      if (rest.length > 0) openCalls.set(id, rest)
      else openCalls.delete(id)
    }
  }

  const shownOf = ({ message, results, moved }: Waiting, missing: 'later' | 'none'): Shown[] => [
    ...(ownText(message) as Shown[]),
    ...message.parts.flatMap((part, index): Shown[] => {
      if (moved.has(index) || isBlank(part)) return []
      if (part.type !== 'tool_call') return [part]
      return [{ is: 'call', call: part, result: results.get(index) ?? missing }]
    }),
  ]

  const release = (turn: Waiting, missing: 'later' | 'none'): Turn[] => {
    const shown = shownOf(turn, missing)
    if (shown.length === 0) return []
    const { message, ordinal, prompts } = turn
    const { externalId: id, model, timestamp } = message
    return [{ id, ordinal, prompts, kind: kindOf(message), model, timestamp, shown }]
  }

  /** Adds a message, whose JSON has this length, and returns the turns that are complete now, in order. */
  const add = (message: Message, length: number): Turn[] => {
    enter(message, length)
    const ready: Turn[] = []
    let count = 0
    for (const turn of waiting) {
      const isOver = waiting.length - count > MOST_WAITING || received - turn.end > MOST_WAITING_CHARACTERS
      if (turn.open > 0 && !isOver) break
      count += 1
      forget(turn)
      ready.push(...release(turn, 'later'))
    }
    waiting = waiting.slice(count)
    return ready
  }

  /** The turns that were still waiting. */
  const end = (): Turn[] => {
    const rest = waiting
    waiting = []
    return rest.flatMap((turn) => release(turn, 'none'))
  }

  return { add, end }
}
