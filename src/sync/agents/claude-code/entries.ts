import { basename } from 'node:path'
import { type ObjectLine, objectLines } from '../support/lines.ts'

/** Whether the file holds a sub-agent's own session: `agent-<id>.jsonl`. */
export const isSubAgent = (path: string): boolean => basename(path).startsWith('agent-')

/**
 * The lines of a session file, in order, without repetitions of a line (README, rule 1), and without the lines of sub-agents
 * unless it is a sub-agent's file (README, rule 2). The ids of all lines are added to `uuids`.
 */
export async function* entries(
  path: string,
  size: number,
  onMalformed: (line: number) => void,
  uuids = new Set<string>(),
): AsyncGenerator<ObjectLine> {
  const sidechains = isSubAgent(path)
  for await (const line of objectLines(path, size, onMalformed)) {
    const { uuid, isSidechain } = line.json
    if (typeof uuid === 'string') {
      if (uuids.has(uuid)) continue
      uuids.add(uuid)
    }
    if (sidechains || isSidechain !== true) yield line
  }
}
