import { join } from 'node:path'
import { io } from '../cli/io.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { configFolders } from '../client/agents/claude-code/places.ts'
import { stateDir } from '../client/config.ts'
import { claudeHook } from '../client/hooks/claude-hook.ts'
import { globalHook } from '../client/hooks/global-hook.ts'
import { type Hook, type HookKind, ownProgram } from '../client/hooks/hook.ts'
import { repositoryHook } from '../client/hooks/repository-hook.ts'
import { afterOthers, HOOK_LOG, removeRuns, startAlone, syncArgsOf } from '../client/hooks/run-hook.ts'
import { notLoggedInError } from '../client/login/connect.ts'
import { readCredentials } from '../client/login/credentials.ts'
import { sync } from './sync.ts'
import { runningWatcher } from '../client/watch/watch-lock.ts'
import { type Access, noteLoss } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

export type Options = ClientOptions & { readonly global?: boolean }

/** The folder whose settings Claude Code reads: the first of several. */
const claudeFolder = (): string => configFolders(io().env, io().home)[0]!

const hookOf = (kind: string, isGlobal = false): Hook => {
  const state = stateDir(io().env)
  if (kind === 'claude-code' && isGlobal) throw new UsageError('--global is only for git: leave it out.')
  if (kind === 'claude-code') return claudeHook(claudeFolder(), state)
  return isGlobal ? globalHook(io().home, state, io().env) : repositoryHook(io().cwd, io().env)
}

const nameOf = (kind: string, isGlobal = false): string => (isGlobal ? `${kind}-global` : kind)

const logFile = (): string => join(stateDir(io().env), HOOK_LOG)

/** Prints the state of a hook in one line, or with --json as a document. */
const printState = async (name: string, hook: Hook, said: string, json: boolean | undefined): Promise<void> => {
  // Outside of a repository there is no hook for it.
  const file = await hook.file().catch(() => undefined)
  const installed = file !== undefined && (await hook.isInstalled())
  if (json) await printDocument({ type: 'hook', name, installed, file, log: logFile() })
  else
    await printLines([`${said || `${name}: ${installed ? 'installed' : 'not installed'}`}${file ? ` (${file})` : ''}`])
}

export const install = async ({ server, config }: Access, { global, json }: Options, kind: string): Promise<number> => {
  if (!(await readCredentials(config, server))?.login) throw notLoggedInError(config, server)
  const hook = hookOf(kind, global)
  const isNew = await hook.install(ownProgram(server))
  await printState(nameOf(kind, global), hook, isNew ? 'Installed' : 'Installed already', json)
  const reach = await hook.reach?.()
  if (reach !== undefined && !json) say(reach)
  return exitCodes.ok
}

export const uninstall = async (_access: Access, { global, json }: Options, kind: string): Promise<number> => {
  const hook = hookOf(kind, global)
  await hook.file()
  const isRemoved = await hook.uninstall()
  await removeRuns(stateDir(io().env))
  await printState(nameOf(kind, global), hook, isRemoved ? 'Removed' : 'Nothing to remove', json)
  return exitCodes.ok
}

export const status = async (_access: Access, { json }: Options): Promise<number> => {
  await printState('claude-code', hookOf('claude-code'), '', json)
  await printState('git', hookOf('git'), '', json)
  await printState('git-global', hookOf('git', true), '', json)
  if (!json) await printLines([`The log of the hooks: ${logFile()}`])
  return exitCodes.ok
}

/** Called by a hook: determines what to upload, and starts a process for it that outlives the hook. */
const startRun = async (kind: HookKind, { server, config }: Access): Promise<number> => {
  const { stdin, env, cwd } = io()
  const args = await syncArgsOf(kind, { stdin, cwd, env })
  if (!args || (await runningWatcher({ stateFolder: stateDir(env), config, server }))) return exitCodes.ok
  const self = [process.execPath, io().script, 'hooks', 'run', kind, '--server', server, '--', ...args]
  startAlone(self, env, stateDir(env))
  return exitCodes.ok
}

/** Runs in that process. `args` are from `syncArgsOf`: for git `--project` and a folder, else paths. */
const syncNow = async (kind: HookKind, server: string, args: readonly string[]): Promise<number> =>
  afterOthers(stateDir(io().env), [kind, server, ...args].join('\n'), () =>
    kind === 'git'
      ? sync({ server, redact: true, project: args[1]! }, [], noteLoss)
      : sync({ server, redact: true }, args, noteLoss),
  )

export const run = (access: Access, _options: Options, kind: HookKind, args: readonly string[]): Promise<number> =>
  args.length > 0 ? syncNow(kind, access.server, args) : startRun(kind, access)
