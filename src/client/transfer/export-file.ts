import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { z } from 'zod'
import { rawItems, rawMembers } from '../../base/json/raw-values.ts'
import type { EncodedMessage } from '../upload/encode.ts'
import { visibilities } from '../upload/upsert-trace.ts'
import { Damaged, JsonPieces } from './json-pieces.ts'

const text = (text: string) =>
  z.looseObject({ type: z.literal(text), content: z.looseObject({ text: z.string() }).optional() })
const named = { callId: z.string(), toolName: z.string() }

/** What the service accepts, as far as a damaged or foreign file may differ from it. */
const Part = z.discriminatedUnion('type', [
  text('text'),
  text('thinking'),
  z.looseObject({
    type: z.literal('tool_call'),
    content: z.looseObject({ ...named, args: z.record(z.string(), z.unknown()) }).optional(),
  }),
  z.looseObject({
    type: z.literal('tool_result'),
    content: z.looseObject({ ...named, output: z.string(), status: z.enum(['success', 'error']) }).optional(),
  }),
  z.looseObject({ type: z.literal('error'), content: z.looseObject({ message: z.string() }).optional() }),
])

const Message = z.looseObject({
  externalId: z.string().min(1),
  role: z.enum(['user', 'assistant', 'system']),
  textContent: z.string().optional(),
  model: z.string().optional(),
  order: z.number().optional(),
  timestamp: z.number().optional(),
  parts: z.array(Part),
})

const Trace = z.looseObject({
  externalId: z.string().min(1),
  agentId: z.string(),
  visibility: z.enum(visibilities),
  messageCount: z.int().optional(),
})
export type ExportedTrace = z.infer<typeof Trace>

/** A file that `tracebook export --format json` wrote, after all of it was checked. */
export type ExportFile = {
  readonly trace: ExportedTrace
  readonly messages: number
  /** Reads the file once more. @throws Damaged if it was changed meanwhile */
  readonly read: () => AsyncIterable<EncodedMessage>
}

type Piece = { readonly is: 'trace' | 'message'; readonly json: string }

async function* textsOf(path: string): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch {
      throw new Damaged('it is not UTF-8')
    }
  }
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) yield decode(chunk as Buffer)
  yield decode()
}

async function* messagesIn(pieces: JsonPieces): AsyncGenerator<Piece, void> {
  await pieces.expect('[')
  if ((await pieces.peek()) === ']') return void (await pieces.expect(']'))
  do yield { is: 'message', json: await pieces.value() }
  while ((await pieces.expect(',]')) === ',')
}

/** The trace and the messages of a file, in their order there. */
async function* piecesOf(path: string): AsyncGenerator<Piece, void> {
  const pieces = new JsonPieces(textsOf(path))
  const seen = new Set<string>()
  if ((await pieces.peek()) !== '{') throw new Damaged('it is not the JSON of an export')
  await pieces.expect('{')
  let next = (await pieces.peek()) === '}' ? await pieces.expect('}') : ','
  for (; next === ','; next = await pieces.expect(',}')) {
    const key = parse(await pieces.value()) as string
    await pieces.expect(':')
    if (seen.has(key)) throw new Damaged(`it has "${key}" twice`)
    if (key === 'trace' || key === 'messages') seen.add(key)
    if (key === 'trace') yield { is: 'trace', json: await pieces.value() }
    else if (key === 'messages') yield* messagesIn(pieces)
    else await pieces.value(false)
  }
  if (seen.size < 2)
    throw new Damaged('it is not the export of a session, which has the members "trace" and "messages"')
  if ((await pieces.peek()) !== undefined) throw new Damaged('there is text after its end')
}

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    throw new Damaged('it is not JSON')
  }
}

const check = <T>(schema: z.ZodType<T>, json: string, what: string): T => {
  const { data, error } = schema.safeParse(parse(json))
  if (error === undefined) return data
  const [issue] = error.issues
  throw new Damaged(
    `${what} does not have the form of an export: ${[...(issue?.path ?? []), issue?.message].join(' ')}`,
  )
}

/** The fields that the service sets. All others are sent back as they are, also those that this version does not know. */
const OWN = new Set(['id', 'createdAt', 'updatedAt'])

const partJson = (json: string): string =>
  `{${[...rawMembers(json)].flatMap(({ key, value }) => (key === 'order' ? [] : [`${JSON.stringify(key)}:${value}`])).join(',')}}`

// Nothing is remembered of an import.
const NO_DIGEST = new Uint8Array()

/** A message as it is sent: its values are the text of the file, so that nothing is rounded or put in another order. */
const encode = (json: string, line: number): EncodedMessage => {
  const members = [...rawMembers(json)].flatMap(({ key, value }) => {
    if (OWN.has(key)) return []
    const text = key === 'parts' ? `[${[...rawItems(value)].map(partJson).join(',')}]` : value
    return [`${JSON.stringify(key)}:${text}`]
  })
  const { externalId } = check(Message, json, `message ${line}`)
  const sent = Buffer.from(`{${members.join(',')}}`)
  return { externalId, line, json: sent, digest: NO_DIGEST, truncations: [] }
}

const stampOf = async (path: string): Promise<string> => {
  const found = await stat(path)
  if (!found.isFile()) throw new Damaged('it is not a regular file, which an import needs because it reads it twice')
  return `${found.ino} ${found.size} ${found.mtimeMs}`
}

async function* readMessages(path: string, stamp: string): AsyncGenerator<EncodedMessage, void> {
  let line = 0
  for await (const { is, json } of piecesOf(path)) if (is === 'message') yield encode(json, ++line)
  if ((await stampOf(path)) !== stamp) throw new Damaged('it was changed during the import: import it again')
}

/** Reads and checks a whole file, message by message. @throws Damaged, and what reading it throws */
export const openExportFile = async (path: string): Promise<ExportFile> => {
  const stamp = await stampOf(path)
  let trace: ExportedTrace | undefined
  const ids = new Set<string>()
  let messages = 0
  for await (const { is, json } of piecesOf(path)) {
    if (is === 'trace') trace = check(Trace, json, 'its trace')
    else {
      messages += 1
      const { externalId } = check(Message, json, `message ${messages}`)
      if (ids.has(externalId)) throw new Damaged(`it has the message ${externalId} twice`)
      ids.add(externalId)
    }
  }
  const { messageCount = messages } = trace!
  if (messageCount !== messages)
    throw new Damaged(`its trace has ${messageCount} messages, but the file has ${messages}`)
  return { trace: trace!, messages, read: () => readMessages(path, stamp) }
}
