import { statSync } from 'node:fs'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, parseObject, textOf } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { activityIn } from './content.ts'
import { findSession } from './files.ts'
import { isRolloutLine, payloadOf } from './messages.ts'

/** The call that started a sub-agent, and the text of its task, unless that is encrypted. */
export type Spawn = { readonly callId: string; readonly task: string | undefined }

/** A sub-agent by its session and, as `/root/review`, by its path among the agents of one session. */
type SubAgent = { readonly id: string; readonly path: string | undefined }

/** The calls of a session that started sub-agents, by the sub-agents' sessions and paths. */
type Spawns = ReadonlyMap<string, Spawn>

const noteLine = (payload: Json, tasks: Map<string, string | undefined>, spawns: Map<string, Spawn>): void => {
  const { type, name, call_id: callId } = payload
  const add = (key: unknown, id: unknown): void => {
    if (typeof key === 'string' && isExternalId(id) && tasks.has(id) && !spawns.has(key))
      spawns.set(key, { callId: id, task: tasks.get(id) })
  }
  if (type === 'function_call' && name === 'spawn_agent' && isExternalId(callId)) {
    const { message, prompt } = parseObject(String(payload['arguments'])) ?? {}
    tasks.set(callId, textOf(message) ?? textOf(prompt))
  }
  if (type === 'function_call_output') {
    const { agent_id: agent, task_name: path } = parseObject(String(payload['output'])) ?? {}
    add(agent, callId)
    add(path, callId)
  }
  const activity = activityIn(payload)
  if (activity) add(activity['agent_thread_id'], activity['call_id'] ?? activity['id'])
}

const readSpawns = async (files: readonly { readonly path: string; readonly size: number }[]): Promise<Spawns> => {
  const [tasks, spawns] = [new Map<string, string | undefined>(), new Map<string, Spawn>()]
  for (const { path, size } of files)
    for await (const { json } of objectLines(path, size, isRolloutLine)) noteLine(payloadOf(json), tasks, spawns)
  return spawns
}

const statOf = (path: string) => {
  const { size, mtimeMs } = statSync(path)
  return { size, mtimeMs }
}

/** How many sessions with sub-agents are kept, whose files need not be read for each of them. */
const KEPT = 4
const kept = new BoundedMap<string, { readonly stamp: string; readonly spawns: Promise<Spawns> }>(KEPT)

/** The calls in the files of a session, of which there is at least one. */
const spawnsIn = (paths: readonly string[]): Promise<Spawns> => {
  const files = paths.map((path) => ({ path, ...statOf(path) }))
  const [first] = paths as readonly [string]
  const stamp = JSON.stringify(files)
  const known = kept.get(first)
  if (known?.stamp === stamp) return known.spawns
  const spawns = readSpawns(files)
  kept.delete(first)
  kept.set(first, { stamp, spawns })
  return spawns
}

/** How many sub-agents' calls are remembered. */
const MOST_FOUND = 1_000
// A watch asks with each added line, and the call that has started a session never changes.
const found = new BoundedMap<string, Spawn>(MOST_FOUND)

/** The call that started a sub-agent, from the file of its parent (README, rule 14); undefined if that is not there, or does not tell. */
export const findSpawn = async (path: string, parentId: string, agent: SubAgent): Promise<Spawn | undefined> => {
  const known = found.get(path)
  if (known) return known
  try {
    const parent = await findSession(parentId, path)
    const spawns = parent.length === 0 ? undefined : await spawnsIn(parent)
    const spawn = spawns?.get(agent.id) ?? (agent.path === undefined ? undefined : spawns?.get(agent.path))
    if (spawn) found.set(path, spawn)
    return spawn
  } catch {
    return undefined
  }
}
