import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand } from '../../support/run-command.ts'
import { ask, tokenIn } from './api.ts'
import type { Document } from './documents.ts'
import { documentsIn } from './documents.ts'
import { bareNeed, type Ended, newUser, type User } from './user.ts'

/** A repository in which a user works: git and commands run in it. */
export type Desk = {
  readonly root: string
  readonly user: User
  git(...args: readonly string[]): string
  put(file: string, ...lines: readonly string[]): void
  /** Commits everything at a time in milliseconds, and gives the id. */
  commit(at: number, ...args: readonly string[]): string
  run(...args: readonly string[]): Promise<Ended>
  /** The documents of a command that succeeds. */
  documents(...args: readonly string[]): Promise<readonly Document[]>
}

export const newDesk = ({ config, claude, variables }: User, folder: string, root = join(folder, 'app')): Desk => {
  const gitConfig = join(folder, 'gitconfig')
  mkdirSync(root, { recursive: true })
  writeFileSync(gitConfig, '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n')
  const ofGit = { GIT_CONFIG_GLOBAL: gitConfig, GIT_CONFIG_NOSYSTEM: '1' }
  const env = { ...bareNeed(), ...variables, ...ofGit }
  const gitWith = (more: object, ...args: readonly string[]) =>
    execFileSync('git', ['-C', root, ...args], { env: { ...env, ...more }, encoding: 'utf8', stdio: 'pipe' }).trim()
  const git = (...args: readonly string[]) => gitWith({}, ...args)
  const inRoot = newUser(folder, variables['TRACEBOOK_URL']!, (args, given) =>
    runCommand(args, { ...bareNeed(), ...given, ...variables, ...ofGit }, { cwd: root }),
  )
  const run = (...args: readonly string[]) => inRoot.run(...args)
  const documents = async (...args: readonly string[]) => {
    const { how, out, err } = await run(...args, '--json')
    if (how !== 0) throw new Error(`${args.join(' ')}: ${how}: ${err}${out}`)
    return documentsIn(out)
  }
  return {
    root,
    user: { ...inRoot, config, claude, variables: env },
    git,
    put: (file, ...lines) => {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), `${lines.join('\n')}\n`)
    },
    commit: (at, ...args) => {
      const date = `@${Math.floor(at / 1_000)} +0000`
      git('add', '--all')
      gitWith({ GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }, 'commit', '--quiet', '--message=change', ...args)
      return git('rev-parse', 'HEAD')
    },
    run,
    documents,
  }
}

/** What an agent did in one call. */
export type Edited = { readonly file: string; readonly before?: readonly string[]; readonly after: readonly string[] }

/** Stores a session in which an agent made edits at a time: a prompt, and for each an answer with a call. */
export const putSession = async (
  url: string,
  { config }: User,
  externalId: string,
  fields: object,
  at: number,
  ...edits: readonly Edited[]
): Promise<void> => {
  const path = `/v1/traces/${encodeURIComponent(externalId)}`
  const token = tokenIn(config)
  await ask(url, path, { token, method: 'PUT', body: { agentId: 'claude-code', ...fields } })
  const prompt = {
    externalId: 'prompt',
    role: 'user',
    order: 0,
    timestamp: at - 1_000,
    textContent: 'Make it \u001b[31m better',
  }
  const answers = edits.flatMap(({ file, before = ['nothing'], after }, i) => {
    const callId = `${externalId}-${i}`
    const args = { file_path: file, old_string: before.join('\n'), new_string: after.join('\n') }
    const call = { type: 'tool_call', content: { callId, toolName: 'Edit', args } }
    const result = { type: 'tool_result', content: { callId, toolName: 'Edit', output: 'done', status: 'success' } }
    const words = { type: 'text', content: { text: `Now the edit ${i}.` } }
    return [
      { externalId: `call-${i}`, role: 'assistant', order: 2 * i + 1, timestamp: at, parts: [words, call] },
      { externalId: `result-${i}`, role: 'user', order: 2 * i + 2, timestamp: at, parts: [result] },
    ]
  })
  await ask(url, `${path}/messages/batch`, { token, method: 'POST', body: { messages: [prompt, ...answers] } })
}
