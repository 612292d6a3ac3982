import { isDeepStrictEqual } from 'node:util'
import { conversation, isFit, type Piece, type WrittenPart } from '../support/conversation.ts'
import { withoutBase64 } from '../support/media.ts'
import { madeUuid } from '../support/made-uuid.ts'
import type { Tally } from '../support/tally.ts'
import { newTimes, type WriteSession, type Written, type WrittenSession } from '../support/writer.ts'
import { argsOfCall, outputText } from './content.ts'
import { saidByUser } from './injected.ts'
import { saysFailed } from './outcomes.ts'

type Payload = Readonly<Record<string, unknown>>
type Line = { readonly type: string; readonly payload: Payload }

const item = (payload: Payload): Line => ({ type: 'response_item', payload })
const event = (payload: Payload): Line => ({ type: 'event_msg', payload })

/** How the ids of items begin that the provider gives them. It refuses others that begin like ids of something else, or that are no names. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
  function_call_output: 'fco_',
  custom_tool_call_output: 'ctco_',
}

/** The id of an item: that of its message, where the parser needs it to find that again, and the provider takes it; the program does not send ids without `_`. */
const idOf = ({ message: { externalId }, index }: Piece, type: string, callId?: string): Payload => {
  const isMade = callId !== undefined && [`${callId}:call`, `${callId}:out`].includes(externalId)
  const isTaken = !externalId.includes('_') || (externalId.startsWith(PREFIXES[type]!) && isFit(externalId))
  return index > 0 || isMade || !isTaken ? {} : { id: externalId }
}

/** Whether a call is one with a text instead of arguments. */
const isCustom = (name: string, args: Payload): boolean =>
  typeof args['input'] === 'string' &&
  isDeepStrictEqual(argsOfCall({ type: 'custom_tool_call', name, input: args['input'] }), args)

/** Items of which the first may have the id of the message. */
type Items = { readonly lines: readonly Line[]; readonly part: WrittenPart }

const newItems = (tally: Tally) => {
  /** The calls with a text whose results were not written yet. */
  const custom = new Set<string>()

  const callItem = (part: Extract<WrittenPart, { type: 'tool_call' }>, piece: Piece): Items => {
    const { callId, toolName: name, args } = part.content
    const type = isCustom(name, args) ? 'custom_tool_call' : 'function_call'
    if (type === 'custom_tool_call') custom.add(callId)
    const said = type === 'custom_tool_call' ? { input: args['input'] } : { arguments: JSON.stringify(args) }
    return { lines: [item({ type, ...idOf(piece, type, callId), call_id: callId, name, ...said })], part }
  }

  const resultItem = (part: Extract<WrittenPart, { type: 'tool_result' }>, piece: Piece): Items => {
    const { callId, status } = part.content
    const output = withoutBase64(part.content.output)
    if (output !== part.content.output) tally.leaveOut('binary content in results')
    const type = custom.delete(callId) ? 'custom_tool_call_output' : 'function_call_output'
    // A text that the parser would take for an old form of a result stands in a block.
    const content = outputText(output) === output ? output : [{ type: 'input_text', text: output }]
    const line = item({ type, ...idOf(piece, type, callId), call_id: callId, output: content })
    const hasFailed = status === 'error'
    if (!hasFailed && saysFailed(output)) tally.leaveOut('that a result is no failure, though it says so')
    const read = hasFailed || saysFailed(output) ? 'error' : 'success'
    const failure = hasFailed && !saysFailed(output)
    return {
      lines: failure ? [event({ type: 'exec_command_end', call_id: callId, exit_code: 1 }), line] : [line],
      part: { ...part, content: { ...part.content, output, status: read } },
    }
  }

  return (part: WrittenPart, piece: Piece): Items => {
    if (part.type === 'tool_call') return callItem(part, piece)
    if (part.type === 'tool_result') return resultItem(part, piece)
    const { text } = part.content
    const content = [{ type: 'output_text', text }]
    // The program shows what events say, and tells the provider what items say.
    const shown = event({ type: 'agent_message', message: text })
    return { lines: [shown, item({ type: 'message', ...idOf(piece, 'message'), role: 'assistant', content })], part }
  }
}

/**
 * Whether a message of the system is the summary of a compaction, behind which the program forgets all answers. Others, such as a command of the user or the
 * message of another agent, are told apart by what the parsers write (README, rules 3, 7 and 8).
 */
const isSummary = (text: string, before: string | undefined, isOwn: boolean): boolean => {
  if (before === 'Conversation compacted') return true
  const [line = '', ...more] = text.split('\n', 2)
  const isOfAgent = more.length > 0 && line.endsWith(':') && line.includes(' to ')
  return isOwn && !isOfAgent && !text.startsWith('! ') && text !== 'Context compacted'
}

/** A line that our parser reads as a message of the system. The program skips one with a history that it cannot read, and goes on with all that it has. */
const systemLine = (message: string, isOfCompaction: boolean): Line => ({
  type: 'compacted',
  payload: { message, ...(isOfCompaction ? {} : { replacement_history: 'unchanged' }) },
})

/** The turns of a session: each begins with a prompt, and says by which model it is answered. */
const newTurns = ({ id, directory, model: usual }: WrittenSession) => {
  let count = 0
  let model = usual
  let turn: string | undefined
  const context = (): Line => ({
    type: 'turn_context',
    payload: { turn_id: turn, cwd: directory, ...(model === undefined ? {} : { model }) },
  })
  const end = (): readonly Line[] => {
    const ended = turn
    turn = undefined
    return ended === undefined ? [] : [event({ type: 'task_complete', turn_id: ended, last_agent_message: null })]
  }
  return {
    begin: (prompt: string): readonly Line[] => {
      const before = end()
      turn = madeUuid(id, 'turn', String(++count))
      return [
        ...before,
        context(),
        event({ type: 'task_started', turn_id: turn, model_context_window: null }),
        event({ type: 'user_message', message: prompt, images: [], local_images: [], text_elements: [] }),
      ]
    },
    isBegun: () => turn !== undefined,
    /** What says that another model answers from here on, if it does. */
    answeredBy: (by: string | undefined): readonly Line[] => {
      if (by === undefined || by === model) return []
      model = by
      return [context()]
    },
    /** The model that answers, as the parser reads it. */
    model: () => model,
    end,
  }
}

const metaLine = ({ id, directory, version, provider, at, branch, commit }: WrittenSession): Line => ({
  type: 'session_meta',
  payload: {
    session_id: id,
    id,
    timestamp: new Date(at).toISOString(),
    cwd: directory,
    originator: 'codex_cli_rs',
    cli_version: version,
    source: 'cli',
    thread_source: 'user',
    ...(provider === undefined ? {} : { model_provider: provider }),
    ...(branch === undefined && commit === undefined ? {} : { git: { commit_hash: commit, branch } }),
  },
})

const textsOf = (parts: readonly WrittenPart[]): readonly string[] =>
  parts.flatMap((part) => (part.type === 'text' ? [part.content.text] : []))

const promptItem = (piece: Piece, texts: readonly string[]): Line =>
  item({
    type: 'message',
    ...idOf(piece, 'message'),
    role: 'user',
    content: texts.map((text) => ({ type: 'input_text', text })),
  })

const BEFORE = 'This conversation goes on from a stored session.'

/** Makes the lines of one piece after another. */
const newLines = (session: WrittenSession, tally: Tally) => {
  const itemsOf = newItems(tally)
  const turns = newTurns(session)
  /** What the system said last, if nothing has followed. */
  let system: string | undefined

  const ofSystem = (text: string): Line => {
    const isOfCompaction = isSummary(text, system, session.isOwn)
    if (!isOfCompaction) tally.leaveOut('messages of the system, for the model')
    system = text
    return systemLine(text, isOfCompaction)
  }
  /** The lines of parts, of which only the first can have the id of the message. */
  const ofParts = (piece: Piece, parts: readonly WrittenPart[]) => {
    const items = parts.map((part, i) => itemsOf(part, i === 0 ? piece : { ...piece, index: piece.index + i }))
    return { lines: items.flatMap(({ lines }) => lines), parts: items.map(({ part }) => part) }
  }
  const ofUser = (piece: Piece) => {
    const results = ofParts(
      piece,
      piece.parts.filter(({ type }) => type === 'tool_result'),
    )
    const texts = textsOf(piece.parts)
    if (texts.length === 0) return results
    const first = { ...piece, index: piece.index + results.parts.length }
    const lines = [...results.lines, ...turns.begin(texts.join('\n')), promptItem(first, texts)]
    return { lines, parts: [...results.parts, ...piece.parts.filter(({ type }) => type === 'text')] }
  }
  const opening = (piece: Piece): readonly Line[] => {
    if (turns.isBegun() || (piece.role === 'user' && textsOf(piece.parts).length > 0)) return []
    tally.putIn('lines before a session that does not begin with a prompt')
    return turns.begin(BEFORE)
  }
  return {
    of: (piece: Piece): { readonly lines: readonly Line[]; readonly said: Written['said'] } => {
      const { role, message } = piece
      const opened = opening(piece)
      if (role === 'system')
        return { lines: [...opened, ...textsOf(piece.parts).map(ofSystem)], said: { role, parts: piece.parts } }
      system = undefined
      if (role === 'user') {
        const { lines, parts } = ofUser(piece)
        return { lines: [...opened, ...lines], said: { role, parts } }
      }
      const answered = turns.answeredBy(message.model)
      const { lines, parts } = ofParts(piece, piece.parts)
      return { lines: [...opened, ...answered, ...lines], said: { role, model: turns.model(), parts } }
    },
    end: turns.end,
  }
}

/**
 * Writes a session as the lines of a rollout of Codex, which `index.ts` reads as the same messages. Messages keep their ids where they are those of items.
 */
export const writeSession: WriteSession = async function* (session, messages, tally): AsyncGenerator<Written> {
  const timeOf = newTimes(session)
  const { of, end } = newLines(session, tally)
  const rules = {
    tally,
    resultsFollow: false,
    saidIn: (texts: readonly string[]) => saidByUser(texts.map((text) => ({ text, isImage: false }))),
  }
  let timestamp = new Date(session.at).toISOString()
  const textOf = ({ type, payload }: Line): string => JSON.stringify({ timestamp, type, payload })
  yield { lines: [textOf(metaLine(session))], said: { role: 'system', parts: [] } }
  for await (const piece of conversation(messages, rules)) {
    timestamp = timeOf(piece.message)
    const { lines, said } = of(piece)
    yield { lines: lines.map(textOf), said }
  }
  yield { lines: end().map(textOf), said: { role: 'system', parts: [] } }
}
