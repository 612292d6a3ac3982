import { setTimeout } from 'node:timers/promises'
import { readCheckpoint } from '../../engine/checkpoint.ts'
import type { Group } from '../../engine/group.ts'
import { withSchema } from './quarantined-streams.ts'

const CATCH_UP_TIMEOUT_MS = 10_000

const POLL_MS = 50

/** Whether the read models of all groups reach a position within ten seconds. They do not when no projector runs. */
export const haveCaughtUp = async (url: string, groups: readonly Group[], position: bigint): Promise<boolean> => {
  const deadline = performance.now() + CATCH_UP_TIMEOUT_MS
  for (const group of groups) {
    const hasCaughtUp = await withSchema(url, group, async (client, schema) => {
      while ((await readCheckpoint(client, schema)).position < position) {
        if (performance.now() > deadline) return false
        await setTimeout(POLL_MS)
      }
      return true
    })
    if (!hasCaughtUp) return false
  }
  return true
}
