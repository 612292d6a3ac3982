import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../cli/exit.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { type EditedFile, type Edits, editedFile } from '../hooks/edited-file.ts'
import type { Inserted } from '../hooks/json-pieces.ts'
import { textOf } from '../hooks/rewrite-file.ts'
import { addJsonEntry, hasJsonEntry, jsonEdits } from './json-settings.ts'
import { SERVER_NAME, type ServerEntry } from './server-entry.ts'
import { addTomlEntry, hasTomlEntry, tomlEdits } from './toml-settings.ts'

export const agentNames = ['claude-code', 'codex', 'cursor'] as const
export type AgentName = (typeof agentNames)[number]

/** The server in the settings of an agent. */
export type InAgent = Pick<EditedFile, 'isInstalled' | 'uninstall'> & {
  readonly file: string
  /** Whether the agent has a folder on this machine. */
  readonly isHere: boolean
  /** Adds the server, and changes nothing else. Returns false if it is there already. Throws UsageError. */
  readonly install: (entry: ServerEntry) => Promise<boolean>
}

type Place = { readonly file: string; readonly folder: string }

/** Where the agents read the servers of a user. */
const placeOf: { readonly [Name in AgentName]: (env: EnvironmentVariables, home: string) => Place } = {
  'claude-code': (env, home) => {
    // The file is beside the default folder, but inside of a folder that the variable names.
    const [named] = (env['CLAUDE_CONFIG_DIR'] ?? '').split(',').flatMap((folder) => folder.trim() || [])
    return { file: join(named ?? home, '.claude.json'), folder: named ?? join(home, '.claude') }
  },
  codex: (env, home) => {
    const folder = env['CODEX_HOME'] || join(home, '.codex')
    return { file: join(folder, 'config.toml'), folder }
  },
  cursor: (_env, home) => ({ file: join(home, '.cursor', 'mcp.json'), folder: join(home, '.cursor') }),
}

type Kind = {
  readonly edits: Edits
  readonly has: (text: string, entry: ServerEntry) => boolean
  readonly add: (text: string, entry: ServerEntry) => Inserted
}

const jsonOf = (whose: string): Kind => ({
  edits: jsonEdits,
  has: hasJsonEntry,
  add: (text, entry) => addJsonEntry(text, entry, whose),
})

const kinds: { readonly [Name in AgentName]: Kind } = {
  'claude-code': jsonOf('Claude Code'),
  codex: { edits: tomlEdits, has: hasTomlEntry, add: addTomlEntry },
  cursor: jsonOf('Cursor'),
}

/** `state`: the folder in which Tracebook remembers what it has added. Entries of others stay. */
export const inAgent = (name: AgentName, env: EnvironmentVariables, home: string, state: string): InAgent => {
  const { file, folder } = placeOf[name](env, home)
  const record = join(state, 'mcp', `${name}.json`)
  const kind = kinds[name]
  const edited = editedFile(file, record, kind.edits)
  const isInstalled = async () => existsSync(record) && (await edited.isInstalled())
  const install = async (entry: ServerEntry) => {
    const isThere = (text: string) => kind.has(text, entry)
    if (!existsSync(record) && (await edited.isInstalled()) && !isThere((await textOf(file))!))
      throw new UsageError(
        `${file}: it already has a server "${SERVER_NAME}" that this command has not written: remove that first`,
      )
    return edited.install((text) => kind.add(text, entry), isThere)
  }
  return {
    file,
    isHere: existsSync(folder),
    isInstalled,
    install,
    uninstall: async () => (await isInstalled()) && edited.uninstall(),
  }
}
