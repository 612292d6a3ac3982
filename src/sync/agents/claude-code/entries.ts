import { basename } from 'node:path'
import { type ObjectLine, objectLines } from '../lines.ts'

/** Whether the file holds a sub-agent's own session: `agent-<id>.jsonl`. */
export const isSubAgent = (path: string): boolean => basename(path).startsWith('agent-')

/**
 * The lines of a session file that count, in file order: no replay of a line that was read already (README, rule 1),
 * and no sub-agent's line unless the file is that sub-agent's (README, rule 2). `uuids` collects the ids of all lines.
 */
export async function* entries(
  path: string,
  size: number,
  malformed: (line: number) => void,
  uuids = new Set<string>(),
): AsyncGenerator<ObjectLine> {
  const sidechains = isSubAgent(path)
  for await (const line of objectLines(path, size, malformed)) {
    const { uuid, isSidechain } = line.json
    if (typeof uuid === 'string') {
      if (uuids.has(uuid)) continue
      uuids.add(uuid)
    }
    if (sidechains || isSidechain !== true) yield line
  }
}
