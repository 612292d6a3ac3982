import { basename } from 'node:path'
import { acceptedId } from '../support/external-ids.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { threadIdOf } from './files.ts'
import { payloadOf } from './messages.ts'

/** What the lines say of the session itself. */
export type Meta = { session?: Json; cwd?: string }

/** Passes the lines on and notes in `meta` what they say of the session (README, rule 1). */
export async function* noting(meta: Meta, lines: AsyncIterable<ObjectLine>): AsyncGenerator<ObjectLine> {
  for await (const line of lines) {
    const payload = payloadOf(line.json)
    const cwd = textOf(payload['cwd'])
    if (line.json['type'] === 'session_meta') meta.session ??= payload
    if (line.json['type'] === 'turn_context' && cwd) meta.cwd ??= cwd
    yield line
  }
}

/** The session's own id, before it is made the trace's. */
export const sessionIdOf = (path: string, { session }: Meta): string =>
  textOf(session?.['id']) ?? threadIdOf(path) ?? basename(path).replace(/\.jsonl(\.zst)?$/, '')

export const externalIdOf = (path: string, meta: Meta): string => acceptedId(sessionIdOf(path, meta), 'session')

/** Where the session took place: its folder, and what git said of it. */
export const placeOf = ({ session, cwd }: Meta) => {
  const git = objectOf(session?.['git'])
  return {
    projectPath: textOf(session?.['cwd']) ?? cwd,
    gitBranch: textOf(git['branch']),
    gitRef: textOf(git['commit_hash']),
    gitRemoteUrl: textOf(git['repository_url']),
  }
}
