import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { codex } from '../../../src/client/agents/codex/index.ts'
import * as rollout from './codex-file.ts'
import type { Machine } from './machine.ts'
import { userLine, writeSession } from './session-file.ts'

/** A session in a file of its own, one line of which is damaged. */
export type Written = { readonly id: string; readonly file: string; readonly sync: Machine['sync'] }

let sessions = 0

export const writeRollout = ({ home, sync }: Machine): Written => {
  const id = rollout.uuidAt('2026-02-01T10:00:00Z', String(++sessions).padStart(12, '0'))
  const lines = [rollout.meta(id), rollout.turn('t-1'), rollout.prompt('hello'), rollout.answer('hi')]
  const folder = join(home, '.codex', 'sessions', '2026', '02', '01')
  const file = rollout.write(folder, `rollout-${id}.jsonl`, `${rollout.text(lines)}{"broken\n`)
  return { id, file, sync: (options) => sync({ agents: [codex], ...options }) }
}

export const writeInProject = ({ sessions: folder, sync }: Machine): Written => {
  const id = `s-${++sessions}`
  mkdirSync(join(folder, '-w-app'), { recursive: true })
  const lines = [userLine('u-1', 'hello', { sessionId: id }), '{"broken']
  return { id, file: writeSession(join(folder, '-w-app'), `${id}.jsonl`, lines), sync }
}

/** Ways in which a session gets another file. */
export const moves = {
  'archived by Codex': {
    write: writeRollout,
    move: ({ file }: Written, { home }: Machine) => {
      const folder = join(home, '.codex', 'archived_sessions')
      mkdirSync(folder)
      renameSync(file, join(folder, basename(file)))
    },
  },
  'compressed by Codex': {
    write: writeRollout,
    move: ({ file }: Written) => {
      writeFileSync(`${file}.zst`, zstdCompressSync(readFileSync(file)))
      rmSync(file)
    },
  },
  'in a folder that got another name': {
    write: writeInProject,
    move: ({ file }: Written, { sessions: folder }: Machine) => renameSync(dirname(file), join(folder, '-w-renamed')),
  },
}
