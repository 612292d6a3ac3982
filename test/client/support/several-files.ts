import { existsSync } from 'node:fs'
import type { Agent, ReadOptions, Session, StoredSession } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'

const PART = /(?:\.\d)?\.jsonl$/

/** Reads the messages of all parts one after the other. */
const readParts = async (parts: readonly StoredSession[], options: ReadOptions): Promise<Session> => {
  const read = await Promise.all(parts.map((part) => part.read(options)))
  return {
    ...read[0]!,
    isKept: false,
    messages: async function* (again) {
      for (const { messages } of read) yield* messages(again)
    },
  }
}

/** Where all files of a session are, or would be. */
const partsOf = (path: string) => ['.jsonl', '.2.jsonl', '.3.jsonl'].map((end) => path.replace(PART, end))

/** An agent that goes on with a session in `<name>.2.jsonl` and `<name>.3.jsonl`, and how many sessions were read. */
export const newAgentOfParts = (folder: string) => {
  let reads = 0
  const agent: Agent = {
    ...claudeCode,
    roots: () => [folder],
    readWith: (path, files) => {
      const first = partsOf(path).find((other) => other === path || files.has(other))
      return first === path ? undefined : first
    },
    sessions: async function* (path) {
      const parts: StoredSession[] = []
      for (const each of partsOf(path).filter(existsSync))
        parts.push(...(await Array.fromAsync(claudeCode.sessions(each))))
      const read: StoredSession['read'] = (options) => {
        reads++
        return readParts(parts, options)
      }
      yield { source: parts[0]!.source, files: parts.flatMap(({ files }) => files), read }
    },
  }
  return { agents: [agent], reads: () => reads }
}
