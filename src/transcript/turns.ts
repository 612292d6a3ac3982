import type { Message, Part, Result, Role } from './message.ts'

/** A call with its result; `later` when it may follow further below, `none` when the trace has none. */
export type Answered = {
  readonly is: 'call'
  readonly call: Extract<Part, { type: 'tool_call' }>
  readonly result: Result | 'later' | 'none'
}

/** What a message shows, in order. A result without its call stands by itself. */
export type Shown = Answered | Exclude<Part, { type: 'tool_call' }>

/** A message as the transcript shows it. A user message that only brings results of tools is no prompt. */
export type Turn = {
  readonly kind: 'prompt' | 'answer' | 'context'
  readonly model: string | undefined
  readonly timestamp: number | undefined
  readonly shown: readonly Shown[]
}

/** What a format makes of the turns of a session, piece by piece; no piece takes long to make. */
export type Renderer = {
  start(): string
  turn(turn: Turn): Iterable<string>
  end(): string
}

/** Messages wait for the results of their calls while no more than this is waiting. */
const MOST_WAITING = 64
const MOST_WAITING_CHARACTERS = 1024 * 1024

type Waiting = {
  readonly message: Message
  readonly weight: number
  /** Results by the index of the call. */
  readonly results: Map<number, Result>
  /** Parts that are shown under a call instead. */
  readonly moved: Set<number>
  /** How many of its calls have no result yet. */
  open: number
}

const kinds: Readonly<Record<Role, Turn['kind']>> = { user: 'prompt', assistant: 'answer', system: 'context' }

const kindOf = ({ role, parts }: Message): Turn['kind'] =>
  role === 'user' && parts.length > 0 && parts.every(({ type }) => type === 'tool_result') ? 'answer' : kinds[role]

/** The text of a message that its parts do not repeat. */
const ownText = ({ textContent, parts }: Message): Part[] => {
  if (textContent === undefined || textContent.trim() === '') return []
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const repeats = texts.includes(textContent) || ['', '\n', '\n\n'].some((gap) => texts.join(gap) === textContent)
  return repeats ? [] : [{ type: 'text', text: textContent }]
}

/** Brings the results of tools to their calls, message by message, with bounded memory. */
export type Turns = {
  /** Adds a message; gives the turns that are complete now, in order. */
  add(message: Message, weight: number): Turn[]
  /** The turns that were still waiting. */
  end(): Turn[]
}

export const newTurns = (): Turns => {
  let waiting: Waiting[] = []
  let weightOfAll = 0
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

  const enter = (message: Message, weight: number) => {
    const turn: Waiting = { message, weight, results: new Map(), moved: new Set(), open: 0 }
    for (const [index, part] of message.parts.entries()) {
      if (part.type === 'tool_result' && attach(part)) turn.moved.add(index)
      if (part.type !== 'tool_call') continue
      turn.open += 1
      const others = openCalls.get(part.callId)
      if (others) others.push({ turn, index })
      else openCalls.set(part.callId, [{ turn, index }])
    }
    waiting.push(turn)
    weightOfAll += weight
  }

  /** A call of a turn that is shown now can get no result any more. */
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
      if (moved.has(index)) return []
      if (part.type !== 'tool_call') return [part]
      return [{ is: 'call', call: part, result: results.get(index) ?? missing }]
    }),
  ]

  const release = (turn: Waiting, missing: 'later' | 'none'): Turn[] => {
    const shown = shownOf(turn, missing)
    if (shown.length === 0) return []
    const { model, timestamp } = turn.message
    return [{ kind: kindOf(turn.message), model, timestamp, shown }]
  }

  const add = (message: Message, weight: number): Turn[] => {
    enter(message, weight)
    const ready: Turn[] = []
    let count = 0
    for (const turn of waiting) {
      const isOver = waiting.length - count > MOST_WAITING || weightOfAll > MOST_WAITING_CHARACTERS
      if (turn.open > 0 && !isOver) break
      count += 1
      weightOfAll -= turn.weight
      forget(turn)
      ready.push(...release(turn, 'later'))
    }
    waiting = waiting.slice(count)
    return ready
  }

  const end = (): Turn[] => {
    const rest = waiting
    waiting = []
    return rest.flatMap((turn) => release(turn, 'none'))
  }

  return { add, end }
}
