import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { syncFolder } from '../../base/replace-file.ts'
import { readJson, writePrivateFile } from '../private-files.ts'

/** A session that `tracebook resume` has written: the id of the trace that it was made of. */
const Resumed = z.object({ agentId: z.string(), parentExternalId: z.string() })
export type Resumed = Readonly<z.infer<typeof Resumed>>

/** Ids of sessions that were written here are UUIDs. No other one may become the name of a file. */
const isId = (sessionId: string): boolean => /^[0-9a-f-]{36}$/.test(sessionId)

/**
 * The sessions that were written here, in the configuration folder, a file for each. They do not belong to the record of what was uploaded, because that may
 * be thrown away, and nothing else tells what a session was made of.
 */
export const openResumed = (config: string) => {
  const pathOf = (sessionId: string) => join(config, 'resumed', `${sessionId}.json`)
  return {
    /** Resolves once it is on the disk. */
    note: async (sessionId: string, resumed: Resumed): Promise<void> => {
      const path = pathOf(sessionId)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writePrivateFile(path, `${JSON.stringify(resumed)}\n`)
      await syncFolder(dirname(path))
    },
    /** What was noted is taken back: the session was not written. */
    forget: (sessionId: string): Promise<void> => rm(pathOf(sessionId), { force: true }),
    /** The trace that a session of an agent was made of; undefined for all that were not written here. */
    originOf: async (agentId: string, sessionId: string): Promise<string | undefined> => {
      const { data } = Resumed.safeParse(isId(sessionId) ? await readJson(pathOf(sessionId)) : undefined)
      return data?.agentId === agentId ? data.parentExternalId : undefined
    },
  }
}
export type ResumedSessions = ReturnType<typeof openResumed>
