import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What the answers in session files have used, read a second way: without the sources, and without what else is in the files. */

/** Input that was not cached, output with thinking, cache reads, cache writes, thinking. */
export type Sums = readonly [input: number, output: number, read: number, written: number, thinking: number]
export const NONE: Sums = [0, 0, 0, 0, 0]

/** An answer, or a part of one. `at` is in milliseconds, `usd` what the agent says that it has cost, `forAnHour` the cache writes that are kept for an hour. */
export type Answer = {
  readonly sums: Sums
  readonly at?: number
  readonly model?: string
  readonly project?: string | undefined
  readonly usd?: number
  readonly forAnHour?: number
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- lines of agents, of any shape
type Line = any

export const add = (one: Sums, other: Sums): Sums => one.map((value, i) => value + other[i]!) as unknown as Sums
export const total = (answers: Iterable<Answer>): Sums => [...answers].reduce((sum, { sums }) => add(sum, sums), NONE)

const linesOf = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })

const projectAt = (folder: string | undefined) => folder && basename(folder)

/** The folder in which each session and each sub-agent within it began, by line. */
const beginnings = (lines: readonly Line[]): ReadonlyMap<Line, string | undefined> => {
  const byId = new Map<string, string>()
  const first = lines.find(({ cwd, isSidechain }) => cwd && !isSidechain)?.cwd
  return new Map(
    lines.map((line) => {
      const folder = line.isSidechain ? (byId.get(line.parentUuid) ?? line.cwd) : first
      byId.set(line.uuid, folder)
      return [line, folder]
    }),
  )
}

/** Each line of an answer repeats its numbers; those with most output count. */
export const ofClaudeCode = (path: string): readonly Answer[] => {
  const answers = new Map<string, Answer>()
  for (const [i, [{ type, message, uuid, timestamp }, folder]] of [...beginnings(linesOf(path))].entries()) {
    if (type !== 'assistant' || !message?.usage) continue
    const { input_tokens: input = 0, output_tokens: output = 0, ...cached } = message.usage
    const key = message.id ?? uuid ?? `line ${i}`
    const known = answers.get(key)
    if (known && known.sums[1] >= output) continue
    const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = cached
    answers.set(key, {
      at: Date.parse(timestamp),
      model: message.model,
      project: projectAt(folder),
      ...known,
      sums: [input, output, read, written, cached.output_tokens_details?.thinking_tokens ?? 0],
      forAnHour: cached.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    })
  }
  return [...answers.values()]
}

/** Of versions before 0.171: what each `token_count` says of the last answer, unless the totals stay the same. */
export const ofCodex = (path: string): readonly Answer[] => {
  let before = 'null'
  let context: Line = {}
  return linesOf(path).flatMap(({ type, payload, timestamp }) => {
    if (type === 'turn_context') context = payload
    if (type !== 'event_msg' || payload?.type !== 'token_count') return []
    const now = JSON.stringify(payload.info?.total_token_usage ?? null)
    const last = payload.info?.last_token_usage
    if (now === before || !last) return []
    before = now
    const { input_tokens: input, cached_input_tokens: cached = 0, output_tokens: output } = last
    return {
      at: Date.parse(timestamp),
      model: context.model,
      project: projectAt(context.cwd),
      sums: [input - cached, output, cached, 0, last.reasoning_output_tokens ?? 0],
    }
  })
}

/** Each record once; input has what was cached, output has no thoughts. */
export const ofGeminiCli = (path: string): readonly Answer[] => {
  const records = path.endsWith('.json') ? JSON.parse(readFileSync(path, 'utf8')).messages : linesOf(path)
  const byId = new Map<unknown, Answer>()
  for (const [i, { id = i, type, tokens, timestamp, model }] of (records ?? []).entries())
    if (type === 'gemini' && tokens) {
      const { input = 0, output = 0, cached = 0, thoughts = 0 } = tokens
      const sums: Sums = [input - cached, output + thoughts, cached, 0, thoughts]
      byId.set(id, { at: Date.parse(timestamp), model, sums })
    }
  return [...byId.values()]
}

export const ofPi = (path: string): readonly Answer[] => {
  const lines = linesOf(path)
  const project = projectAt(lines.find(({ type }) => type === 'session')?.cwd)
  return lines.flatMap(({ type, message, timestamp }) => {
    if (type !== 'message' || message?.role !== 'assistant' || !message.usage) return []
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost } = message.usage
    const usd = cost?.total ? { usd: cost.total } : {}
    const sums: Sums = [input, output, cacheRead, cacheWrite, 0]
    return { at: Date.parse(timestamp), model: message.model, project, ...usd, sums }
  })
}

export const ofCopilotCli = (path: string): readonly Answer[] =>
  linesOf(path).flatMap(({ type, data }) =>
    type === 'assistant.message' ? { sums: [0, data?.outputTokens ?? 0, 0, 0, 0] as const } : [],
  )

/** The messages of a session are files in a folder of its own; output has no reasoning. */
export const ofOpencode = (path: string): readonly Answer[] => {
  const { id } = JSON.parse(readFileSync(path, 'utf8'))
  const messages = join(path, '..', '..', '..', 'message', id)
  return globSync('*.json', { cwd: messages }).map((name) => {
    const { tokens = {} } = JSON.parse(readFileSync(join(messages, name), 'utf8'))
    const { input = 0, output = 0, reasoning = 0, cache = {} } = tokens
    return { sums: [input, output + reasoning, cache.read ?? 0, cache.write ?? 0, reasoning] }
  })
}
