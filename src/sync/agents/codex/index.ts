import { join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf } from '../support/beginning.ts'
import { sessionPerFile } from '../support/file-session.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { isRollout, SESSION_FOLDERS, threadIdOf } from './files.ts'
import { isRolloutLine } from './messages.ts'
import { parserOf } from './parser.ts'
import { titlesNear } from './titles.ts'

const id = 'codex'

const version = 2

const filesOf = sessionPerFile(sessionOfLines(parserOf(id, version)))

/** The stamp of a session changes with its title too, which is in another file. */
const sessions: Agent['sessions'] = async function* (path) {
  const title = (await titlesNear(path)).get(threadIdOf(path) ?? '')
  for await (const session of filesOf(path))
    yield title === undefined ? session : { ...session, stamp: `${session.stamp} ${title}` }
}

/** The first line may be longer than the beginning of the file: it holds the agent's instructions. */
const longFirstLine = /^\s*\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{/

/**
 * Codex stores sessions as `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, archived ones in `archived_sessions`;
 * `README.md` describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const codex: Agent = {
  id,
  name: 'Codex',
  version,
  roots: (env, home) => SESSION_FOLDERS.map((folder) => join(env['CODEX_HOME'] || join(home, '.codex'), folder)),
  isSessionFile: isRollout,
  extensions: ['.jsonl', '.jsonl.zst'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRolloutLine) || longFirstLine.test(beginning),
  isSuperseded: (path, files) => path.endsWith('.zst') && files.has(path.slice(0, -'.zst'.length)),
  sessions,
}
