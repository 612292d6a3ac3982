import type { Json } from '../support/json.ts'
import { saidIn } from '../support/injected.ts'
import { conversation, type Piece, type WrittenPart } from '../support/conversation.ts'
import { isUuid, madeUuid } from '../support/made-uuid.ts'
import { newTimes, type WriteSession, type Written, type WrittenSession } from '../support/writer.ts'

/** What the boundary of a compaction says, as the parser gives it (README, rule 6). */
const COMPACTED = 'Conversation compacted'

const BEFORE = 'This conversation goes on from a stored session.'

/** A line without what all lines have: `type` and what goes with it. */
type Line = Readonly<Record<string, unknown>>

const isText = (part: WrittenPart): part is Extract<WrittenPart, { type: 'text' }> => part.type === 'text'

const contentOf = (part: WrittenPart): object => {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.content.text }
    case 'tool_call':
      return { type: 'tool_use', id: part.content.callId, name: part.content.toolName, input: part.content.args }
    case 'tool_result': {
      const { callId, output, status } = part.content
      return { type: 'tool_result', tool_use_id: callId, content: output, is_error: status === 'error' }
    }
  }
}

/** What an answer has used, where a copy of it is known by the id of the message; else zeros, which the parser takes for nothing. */
const usageOf = ({ message: { usage, externalId }, index }: Piece): object => {
  const used = usage?.responseId === externalId && index === 0 ? usage : undefined
  return {
    input_tokens: used?.inputTokens ?? 0,
    cache_creation_input_tokens: used?.cacheWriteTokens ?? 0,
    cache_read_input_tokens: used?.cacheReadTokens ?? 0,
    output_tokens: used?.outputTokens ?? 0,
    ...(used?.reasoningTokens === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: used.reasoningTokens } }),
  }
}

/** One line for each block of an answer, all with the id of its message. An id that is made is one that no other message can have. */
const answerLines = (piece: Piece, sessionId: string): readonly Line[] => {
  const { message, index, parts } = piece
  const id = index === 0 ? message.externalId : `msg_${madeUuid(sessionId, message.externalId, String(index))}`
  const last = parts.at(-1)
  const reason = last?.type === 'tool_call' ? 'tool_use' : 'end_turn'
  return parts.map((part) => ({
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: message.model ?? '',
      content: [contentOf(part)],
      stop_reason: part === last ? reason : null,
      stop_sequence: null,
      usage: usageOf(piece),
    },
  }))
}

const user = (content: unknown, more: object = {}): Line => ({
  type: 'user',
  message: { role: 'user', content },
  ...more,
})

/** The boundary of a compaction, or a summary, which the parser gives as a message of the system (README, rules 5 and 6). */
const systemLine = (text: string): Line =>
  text === COMPACTED
    ? {
        type: 'system',
        subtype: 'compact_boundary',
        content: text,
        isMeta: false,
        level: 'info',
        // Caused by the program, so that no command is moved before it.
        compactMetadata: { trigger: 'auto', preTokens: 0 },
      }
    : user(text, { isCompactSummary: true, isVisibleInTranscriptOnly: true })

const linesOf = (piece: Piece, sessionId: string): readonly Line[] => {
  if (piece.role === 'assistant') return answerLines(piece, sessionId)
  const texts = piece.parts.filter(isText).map(({ content }) => content.text)
  if (piece.role === 'system') return texts.map(systemLine)
  return [user(texts.length === 1 && piece.parts.length === 1 ? texts[0] : piece.parts.map(contentOf))]
}

/** Whether a session that begins with this piece is one that the program lists: with what was typed, and is no command. */
const isPrompt = ({ role, parts: [first] }: Piece): boolean =>
  role === 'user' && first?.type === 'text' && !/^\s*[</]/.test(first.content.text)

/** Adds to lines what all of them have, in one chain: each follows the one before it. */
const newChain = ({ id, directory, branch = '', version }: WrittenSession) => {
  let parent: string | null = null
  return (line: Line, uuid: string, at: string): string => {
    const isBoundary = line['subtype'] === 'compact_boundary'
    const { type, ...more } = line
    const text = JSON.stringify({
      parentUuid: isBoundary ? null : parent,
      ...(isBoundary ? { logicalParentUuid: parent } : {}),
      isSidechain: false,
      userType: 'external',
      cwd: directory,
      sessionId: id,
      version,
      gitBranch: branch,
      type,
      ...more,
      uuid,
      timestamp: at,
      entrypoint: 'cli',
    })
    parent = uuid
    return text
  }
}

/**
 * Whether the lines of a file follow one another, in a function that gets each. The program does not refuse a chain with a gap: it silently forgets all that
 * stands before.
 */
export const newChainCheck = () => {
  let last: unknown = null
  return ({ uuid, parentUuid, logicalParentUuid, subtype }: Json): boolean => {
    const isBoundary = subtype === 'compact_boundary'
    const follows = isBoundary ? parentUuid === null && logicalParentUuid === last : parentUuid === last
    last = uuid
    return follows && typeof uuid === 'string'
  }
}

/**
 * Writes a session as the lines of a file of Claude Code, which `index.ts` reads as the same messages. Messages keep their ids where they are those of the
 * program: a prompt as the `uuid` of its line, an answer as the `id` of its message.
 */
export const writeSession: WriteSession = async function* (session, messages, tally): AsyncGenerator<Written> {
  const chain = newChain(session)
  const timeOf = newTimes(session)
  const rules = {
    tally,
    resultsFollow: true,
    saidIn: (texts: readonly string[]) => texts.flatMap((text) => saidIn(text)),
  }
  let isFirst = true
  for await (const piece of conversation(messages, rules)) {
    const { message, index, role } = piece
    const at = timeOf(message)
    const lines: string[] = []
    if (isFirst && !isPrompt(piece)) {
      tally.putIn('lines before a session that does not begin with a prompt')
      lines.push(chain(user(BEFORE, { isMeta: true }), madeUuid(session.id), at))
    }
    isFirst = false
    const keepsId = role !== 'assistant' && index === 0 && isUuid(message.externalId)
    for (const [number, line] of linesOf(piece, session.id).entries()) {
      const made = madeUuid(session.id, message.externalId, String(index), String(number))
      lines.push(chain(line, keepsId && number === 0 ? message.externalId : made, at))
    }
    yield { lines, said: { role, model: message.model, parts: piece.parts } }
  }
}
