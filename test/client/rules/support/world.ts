import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { claudeCode } from '../../../../src/client/agents/claude-code/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { newApiClient } from '../../../../src/client/api/client.ts'
import { connect } from '../../../../src/client/login/connect.ts'
import { logInWithDevice } from '../../../../src/client/login/device-login.ts'
import { readRedactionOptions } from '../../../../src/client/redaction/options.ts'
import type { Summary, SyncEvent } from '../../../../src/client/report/events.ts'
import type { Asking } from '../../../../src/client/rules/confirm-public.ts'
import type { Known } from '../../../../src/client/rules/decide.ts'
import { openRules } from '../../../../src/client/rules/open.ts'
import { openSyncState } from '../../../../src/client/state/sync-state.ts'
import { newUploader } from '../../../../src/client/state/uploader.ts'
import { syncFiles } from '../../../../src/client/upload/sync-files.ts'
import { startServer } from '../../support/server.ts'
import { userLine, writeSession } from '../../support/session-file.ts'
import { newHome } from './git.ts'

type Options = {
  readonly asked?: Known['asked']
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly redacts?: boolean
  /** The answers of a user at a terminal, one for each question; undefined where nobody can answer. */
  readonly answers?: readonly boolean[]
}
type Run = { readonly summary: Summary; readonly events: readonly SyncEvent[]; readonly questions: readonly string[] }

/** A user who is logged in to a server of its own as a member of `acme` and of `open`, and no member of `closed`. */
export const newRulesWorld = async () => {
  const home = newHome()
  const { config } = home
  const sessions = join(home.home, 'sessions')
  mkdirSync(sessions)
  const server = await startServer()
  const user = await logInWithDevice(config, server.url, newApiClient)
  for (const slug of ['acme', 'open']) server.addNamespace(slug, { [user.userId]: 'member' })
  server.addNamespace('closed')

  const sync = async ({
    asked = {},
    yes = false,
    dryRun = false,
    force = false,
    redacts = true,
    answers,
  }: Options = {}) => {
    const [events, questions]: [SyncEvent[], string[]] = [[], []]
    const report = (event: SyncEvent) => void events.push(event)
    const left = [...(answers ?? [])]
    const asking: Asking = {
      isTerminal: answers !== undefined,
      confirm: async (question) => {
        questions.push(question)
        return left.shift() ?? Promise.reject(new Error(`was asked: ${question}`))
      },
    }
    const connectTo = (slug?: string) => connect({ config, server: server.url, slug, readOnly: dryRun }, newApiClient)
    const state = openSyncState({ folder: join(config, 'data'), config, readOnly: dryRun })
    const redaction = redacts ? await readRedactionOptions(config) : undefined
    try {
      const agent = { ...claudeCode, roots: () => [sessions] }
      const files = await findSessionFiles([agent], [], { env: {}, home: home.home }, () => {})
      const rules = await openRules({
        ...{ ...home, server: server.url, asked, yes, dryRun, redaction, asking },
        connection: await connectTo(asked.namespace),
        connect: connectTo,
        statesOf: (connection) => state.of({ server: server.url, ...connection }),
      })
      const asUploader = newUploader({ stateFolder: join(config, 'data'), config, server: server.url })
      const summary = await syncFiles(
        { ...rules, origins: state, asUploader, redaction, dryRun, force, report },
        files,
        0,
      )
      return { summary, events, questions } satisfies Run
    } finally {
      state.close()
    }
  }

  /** Writes a session of a project with these prompts. */
  const session = (id: string, project: string, ...prompts: readonly string[]): string => {
    const lines = prompts.map((text, i) => userLine(`${id}-${i}`, text, { cwd: project, sessionId: id }))
    return writeSession(sessions, `${id}.jsonl`, lines)
  }
  /** Each trace with its namespace and visibility. */
  const stored = () => {
    const slugOf = (id: string) => server.namespaces.find((one) => one.id === id)!.slug
    return Object.fromEntries(
      server.traces.map((one) => [one.externalId, `${slugOf(one.namespaceId)} ${one.fields['visibility']}`]),
    )
  }
  const close = async () => {
    await server.close()
    home.remove()
  }
  return { ...home, server, sessions, sync, session, stored, close }
}
export type RulesWorld = Awaited<ReturnType<typeof newRulesWorld>>
