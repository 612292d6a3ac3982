import { addByName } from '../../base/add-by-name.ts'
import type { AttributedLines, AttributedRange, Attributions } from '../../contract/attribution.ts'
import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import type { Part } from '../../contract/message.ts'
import { factsOfRow } from '../trace/messages/message-facts.ts'
import { inPieces } from '../trace/tokens/stored-rows.ts'
import type { WrittenFile } from './calls.ts'
import { type Question, readKnown } from './known.ts'
import { type HunkMatches, type Match, matchHunk } from './match.ts'
import { type MessageRow, type TraceRow, readMessages } from './queries.ts'

const textOf = (json: string): string => JSON.parse(json) as string

type MessageKey = Pick<WrittenFile, 'traceId' | 'ordinal'>
const nameOf = ({ traceId, ordinal }: MessageKey): string => `${traceId}/${ordinal}`

/** The ids of the calls of a message. Facts have a hash instead of an unusual one. */
const callIdsIn = (row: MessageRow): string[] =>
  factsOfRow(row).facts.flatMap((fact) => (fact.is === 'call' ? [fact.id] : []))

const isUnusual = (id: string | undefined): boolean => id === undefined || id.startsWith('#')

type Named = MessageRow & { readonly callIds: readonly string[] }

const callIdsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.type === 'tool_call' ? [part.content?.callId ?? ''] : []))

/** Reads the messages of ranges, with the ids of their calls. */
const readNamed = async (read: ReadRows, files: readonly WrittenFile[]): Promise<Map<string, Named>> => {
  const keys = [...new Map(files.map((file) => [nameOf(file), file])).values()]
  const rows = keys.length === 0 ? [] : await readMessages(read, keys)
  const named = new Map(rows.map((row) => [nameOf(keys[row.asked - 1]!), { ...row, callIds: callIdsIn(row) }]))
  const unusual = files.filter((file) => isUnusual(named.get(nameOf(file))?.callIds[file.nth]))
  for await (const { piece, rowOf } of inPieces(read, unusual))
    for (const file of piece) {
      const callIds = callIdsOf(JSON.parse(`[${rowOf(file)?.parts ?? ''}]`) as Part[])
      named.set(nameOf(file), { ...named.get(nameOf(file))!, callIds })
    }
  return named
}

const rangeOf = ({ start, end, evidence, file }: Match, trace: TraceRow, message: Named): AttributedRange => {
  const model = message.model ?? trace.model
  return {
    ...{ start, end, evidence },
    trace: {
      id: trace.id,
      externalId: trace.external_id,
      agentId: textOf(trace.agent_id),
      ...(trace.title === null ? {} : { title: textOf(trace.title) }),
      ...(trace.parent_external_id === null ? {} : { parentExternalId: textOf(trace.parent_external_id) }),
    },
    message: { externalId: message.external_id },
    callId: message.callIds[file.nth] ?? '',
    ...(model === null ? {} : { model: textOf(model) }),
    author: {
      id: trace.created_by,
      ...(trace.display_name === null ? {} : { displayName: textOf(trace.display_name) }),
    },
    at: file.at,
  }
}

export const NO_LINES: AttributedLines = { total: 0, weak: 0, replaced: 0, run: 0, moved: 0, unknown: 0 }

export const sumOf = (all: readonly AttributedLines[]): AttributedLines => all.reduce(addByName, NO_LINES)

/** Which calls wrote the lines of each hunk, and the traces that these are of. */
export const matchAll = async (read: ReadRows, question: Question) => {
  const { known, traces } = await readKnown(read, question)
  const matches: HunkMatches[] = []
  for (const hunk of question.hunks) matches.push(await matchHunk(hunk, known, question.turn))
  return { matches, traces }
}

/** The answer to a question, but for the time through which everything is known. */
export const answer = async (read: ReadRows, question: Question): Promise<Omit<Attributions, 'indexedThrough'>> => {
  const { matches, traces } = await matchAll(read, question)
  const named = await readNamed(
    read,
    matches.flatMap(({ ranges }) => ranges.map(({ file }) => file)),
  )
  return {
    hunks: matches.map(({ ranges, unknown }) => ({
      ranges: ranges.map((match) => rangeOf(match, traces.get(match.file.traceId)!, named.get(nameOf(match.file))!)),
      unknown: unknown.map(([start, end]) => [start, end]),
    })),
    lines: sumOf(matches.map(({ lines }) => lines)),
  }
}
