import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { setPriority, constants } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { tryLock } from '../../base/process-lock.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { askGit, withoutGitVariables } from './git.ts'
import type { HookKind } from './hook.ts'

/** The output of the hooks' runs, of bounded size. */
export const HOOK_LOG = 'hooks.log'
const MAX_LOG_BYTES = 1 << 20
const MAX_INPUT = 1 << 20
/** How long a run waits for the one before it, in milliseconds. */
const PATIENCE_MS = 10 * 60_000

const HookInput = z.object({ transcript_path: z.string().min(1) })

const readInput = async (stdin: AsyncIterable<Buffer | string>): Promise<string> => {
  let text = ''
  for await (const chunk of stdin) if (text.length < MAX_INPUT) text += String(chunk)
  return text
}

/** The arguments of `sync` for the session that Claude Code names on stdin: its transcript, and those of its sub-agents. */
const argsOfTranscript = (input: string): readonly string[] | undefined => {
  const { data } = HookInput.safeParse(JSON.parse(input))
  if (!data || !existsSync(data.transcript_path)) return undefined
  const folder = data.transcript_path.replace(/\.jsonl$/, '')
  return [data.transcript_path, ...(folder !== data.transcript_path && existsSync(folder) ? [folder] : [])]
}

/** The arguments of `sync`; undefined if there is nothing to do. */
export const syncArgsOf = async (
  kind: HookKind,
  { stdin, cwd, env }: { stdin: AsyncIterable<Buffer | string>; cwd: string; env: EnvironmentVariables },
): Promise<readonly string[] | undefined> => {
  if (kind === 'claude-code') return argsOfTranscript(await readInput(stdin))
  const top = await askGit(['rev-parse', '--show-toplevel'], cwd, env)
  return top ? ['--project', top] : undefined
}

const openLog = (state: string): number => {
  const file = join(state, HOOK_LOG)
  mkdirSync(state, { recursive: true, mode: 0o700 })
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}

/** Starts a command in its own session, so that it outlives its caller. Its output goes to the log. */
export const startAlone = (command: readonly string[], env: EnvironmentVariables, state: string): void => {
  const log = openLog(state)
  const [program, ...args] = command
  spawn(program!, args, {
    env: withoutGitVariables(env),
    detached: true,
    stdio: ['ignore', log, log],
    cwd: state,
  }).unref()
}

/**
 * Runs `work` once earlier work with the same key has ended. Does nothing if other work waits already: that begins later, and finds what is
 * new now.
 */
export const afterOthers = async (state: string, key: string, work: () => Promise<number>): Promise<number> => {
  setPriority(constants.priority.PRIORITY_LOW)
  const folder = join(state, 'hooks')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = (name: string) => join(folder, `${digest(key)}.${name}`)
  const place = tryLock(file('waiting'))
  if (!place) return 0
  const turn = tryLock(file('running'), 'exclusive', PATIENCE_MS)
  place.close()
  if (!turn) return 0
  try {
    return await work()
  } finally {
    turn.close()
  }
}

/** Removes the files that runs have left: their log, and the locks by which they waited for each other. */
export const removeRuns = async (state: string): Promise<void> => {
  for (const log of [HOOK_LOG, `${HOOK_LOG}.1`]) await rm(join(state, log), { force: true })
  const folder = join(state, 'hooks')
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((one) => /\.(?:waiting|running)$/.test(one)))
    await rm(join(folder, name), { force: true })
  await rmdir(folder).catch(() => {})
}
