import { resolve, sep } from 'node:path'
import { shellWord } from '../../../base/escape.ts'
import { fetchedFrom } from '../../../cli/command-name.ts'
import { UsageError } from '../../../cli/exit.ts'
import type { EnvironmentVariables } from '../../agents/agent.ts'
import { realPath } from '../../agents/support/files.ts'

/** Variables that say where the client, or an agent, keeps its files: the system starts a service without the variables of the shell. */
const FOLDERS = [
  'TRACEBOOK_CONFIG_DIR',
  'TRACEBOOK_DATA_DIR',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'COPILOT_HOME',
  'GEMINI_CLI_HOME',
  'PI_CODING_AGENT_DIR',
  'PI_CODING_AGENT_SESSION_DIR',
  'QWEN_HOME',
  'QWEN_RUNTIME_DIR',
  'XDG_DATA_HOME',
  'XDG_CONFIG_HOME',
  'APPDATA',
  'NODE_EXTRA_CA_CERTS',
]
const OTHERS = ['PATH', 'OPENCODE_DB']

/** Paths of Node.js that stay the same when a package manager installs another version. */
const LASTING_NODES = ['/usr/bin/node', '/usr/local/bin/node', '/opt/homebrew/bin/node']

/** The path of the Node.js that runs this, if possible one that stays the same. */
const nodePath = (node: string): string => {
  const real = realPath(node) ?? node
  return LASTING_NODES.find((path) => realPath(path) === real) ?? node
}

/** The variables that a program needs when the system starts it. Folders are made absolute. */
export const lastingEnvironment = (env: EnvironmentVariables): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(FOLDERS.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : []))),
  ...Object.fromEntries(OTHERS.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
})

/**
 * `tracebook` as the system can start it, by absolute paths: `node` runs `entry`, which may be a link. Throws UsageError if it is
 * in the cache of npx, which may be cleared at any time.
 */
export const lastingCommand = (node: string, entry: string): readonly string[] => {
  const path = realPath(entry) ?? resolve(entry)
  if (path.split(sep).includes('_npx'))
    throw new UsageError(
      `Tracebook runs from the cache of npx (${path}), which may be cleared at any time. ` +
        `Install it first (npm install --global${fetchedFrom === undefined ? ', with the file of the package' : ` ${shellWord(fetchedFrom)}`}), then run this command of it again.`,
    )
  return [nodePath(node), path]
}
