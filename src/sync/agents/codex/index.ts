import { join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf } from '../support/beginning.ts'
import { noMessageIds } from '../support/external-ids.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import { isObject, type Json } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { newOutline } from '../support/outline.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { isRollout, SESSION_FOLDERS, threadIdOf } from './files.ts'
import { ownStartOf } from './fork.ts'
import { messagesOf } from './messages.ts'
import { externalIdOf, type Meta, noting, placeOf, sessionIdOf } from './meta.ts'
import { titlesNear } from './titles.ts'

const id = 'codex'

const readSession: ReadSessionFile = async (path, { size, onMalformed }) => {
  const ownStart = await ownStartOf(path, size)
  const skipped = countSkipped(onMalformed)
  const meta: Meta = {}
  const outline = newOutline()
  const lines = noting(meta, objectLines(path, size, skipped.onMalformed))
  for await (const message of messagesOf(lines, ownStart, noMessageIds)) outline.note(message)
  const title = (await titlesNear(path)).get(sessionIdOf(path, meta)) ?? outline.title()
  return {
    externalId: externalIdOf(path, meta),
    trace: traceFieldsOf(id, { title, model: outline.model(), ...placeOf(meta) }),
    skippedLines: skipped.lines,
    messages: () =>
      messagesOf(
        objectLines(path, size, () => {}),
        ownStart,
      ),
  }
}

/** The stamp of a session changes with its title too, which is in another file. */
const sessions: Agent['sessions'] = async function* (path) {
  const title = (await titlesNear(path)).get(threadIdOf(path) ?? '')
  for await (const session of sessionPerFile(readSession)(path))
    yield title === undefined ? session : { ...session, stamp: `${session.stamp} ${title}` }
}

const LINE_TYPES = ['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted', 'world_state']

const isRolloutLine = ({ type, payload }: Json): boolean => LINE_TYPES.includes(String(type)) && isObject(payload)

/** The first line may be longer than the beginning of the file: it holds the agent's instructions. */
const longFirstLine = /^\s*\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{/

/**
 * Codex stores sessions as `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, archived ones in `archived_sessions`;
 * `README.md` describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const codex: Agent = {
  id,
  name: 'Codex',
  version: 1,
  roots: (env, home) => SESSION_FOLDERS.map((folder) => join(env['CODEX_HOME'] || join(home, '.codex'), folder)),
  isSessionFile: isRollout,
  extensions: ['.jsonl', '.jsonl.zst'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRolloutLine) || longFirstLine.test(beginning),
  isSuperseded: (path, files) => path.endsWith('.zst') && files.has(path.slice(0, -'.zst'.length)),
  sessions,
}
