import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { newUuid } from '../../base/uuid.ts'
import type { Agent, EnvironmentVariables } from '../agents/agent.ts'
import { claudeCode } from '../agents/claude-code/index.ts'
import { configFolders } from '../agents/claude-code/places.ts'
import { newChainCheck, writeSession as writeClaudeCode } from '../agents/claude-code/write.ts'
import { codex } from '../agents/codex/index.ts'
import { codexFolder } from '../agents/codex/files.ts'
import { writeSession as writeCodex } from '../agents/codex/write.ts'
import type { Json } from '../agents/support/json.ts'
import type { WriteSession } from '../agents/support/writer.ts'
import { configuredProvider } from './codex-provider.ts'
import { projectFolder } from './project-folder.ts'

/** Where a session is to go on: the real path of a folder, and the user's own folders. */
export type Place = { readonly directory: string; readonly env: EnvironmentVariables; readonly home: string }

/** An agent for which sessions can be written. */
export type Target = {
  /** Reads what was written. */
  readonly agent: Agent
  readonly write: WriteSession
  readonly newId: () => string
  /** The path of the file of a session that is written now. */
  readonly pathOf: (place: Place, id: string, now: Date) => Promise<string>
  /** The words of the command that continues a session. */
  readonly command: (id: string) => readonly string[]
  /** The member of a line that has the version of the program, and the version without a session on this machine. */
  readonly version: { readonly member: string; readonly otherwise: string }
  /** The provider of models that the program is set up for, where it refuses a session of another one. */
  readonly provider?: (place: Place) => Promise<string>
  /** A check of lines beside the parser's: whether the next one follows. */
  readonly newLineCheck?: () => (line: Json) => boolean
}

const two = (number: number): string => String(number).padStart(2, '0')

const claudeTarget: Target = {
  agent: claudeCode,
  write: writeClaudeCode,
  newId: randomUUID,
  pathOf: async ({ directory, env, home }, id) =>
    join(await projectFolder(join(configFolders(env, home)[0]!, 'projects'), directory), `${id}.jsonl`),
  command: (id) => ['claude', '--resume', id],
  version: { member: 'version', otherwise: '2.1.42' },
  newLineCheck: newChainCheck,
}

const codexTarget: Target = {
  agent: codex,
  write: writeCodex,
  newId: newUuid,
  pathOf: async ({ env, home }, id, now) => {
    const [year, month, day] = [String(now.getFullYear()), two(now.getMonth() + 1), two(now.getDate())]
    const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('-')
    const name = `rollout-${year}-${month}-${day}T${time}-${id}.jsonl`
    return join(codexFolder(env, home), 'sessions', year, month, day, name)
  },
  command: (id) => ['codex', 'resume', id],
  provider: ({ env, home }) => configuredProvider(join(codexFolder(env, home), 'config.toml')),
  version: { member: 'cli_version', otherwise: '0.171.0' },
}

export const targets: readonly Target[] = [claudeTarget, codexTarget]
