import { atMostEvery, say } from '../../../cli/output.ts'
import { io } from '../../../cli/io.ts'
import { newHistoryClient } from '../../../client/api/history.ts'
import { pagesOf } from '../../../client/api/pages.ts'
import type { OpenRepository } from '../../../client/git/open-repository.ts'
import { listCommits } from '../../../client/git/revisions.ts'
import type { CitingCommit } from '../../../server/proof/evidence/assemble.ts'
import { type Access, type ClientOptions, openAccess, openNamespace } from '../../support/access.ts'
import { openAttribution, sayIfShallow } from '../../support/attribution.ts'
import { groupsOf, usualRange } from '../../support/changed-commits.ts'
import { findTrace } from '../../support/find-trace.ts'
import { type WantedSessions, citingCommit, newWantedSessions } from './lines.ts'

const PROGRESS_MS = 2_000

/** Says on standard error how far the work has come, now and then. */
export const newCount = (what: string, all: number): ((done: number) => void) =>
  atMostEvery(PROGRESS_MS, (done: number) => say(`${done} of ${all} ${what}`))

/** What is wanted so far, and a signal that ends the search. */
type Search = { readonly sessions: WantedSessions; readonly signal: AbortSignal }

type FoundCommits = {
  readonly commits: readonly CitingCommit[]
  readonly repository: OpenRepository
  readonly slug: string
}

/** Asks which sessions wrote the lines of commits. @throws UsageError, RequestFailed, GitFailed */
const findCommits = async (
  access: Access,
  options: ClientOptions & { readonly remote?: string },
  names: readonly string[],
  { sessions, signal }: Search,
): Promise<FoundCommits> => {
  const attribution = await openAttribution(access, options, io().cwd)
  const { repository, slug, asked } = attribution
  const listed = await listCommits(repository, names.length > 0 ? names : [await usualRange(attribution)])
  sayIfShallow(attribution)
  const commits: CitingCommit[] = []
  const count = newCount('commits', listed.length)
  for await (const group of groupsOf(attribution, listed)) {
    signal.throwIfAborted()
    const answers = await attribution.ask(group.flatMap(({ hunks }) => hunks))
    let from = 0
    for (const changed of group) {
      const own = answers.slice(from, (from += changed.hunks.length))
      commits.push(citingCommit(changed, own, { slug, repository: asked.repositories?.[0], sessions }))
    }
    count(commits.length)
  }
  return { commits, repository, slug }
}

const MESSAGES_PER_PAGE = 1_000

/** Wants all messages of a session. @throws UsageError, RequestFailed */
const wantWhole = async (given: Access, options: ClientOptions, name: string, { sessions, signal }: Search) => {
  const { access, trace } = await findTrace(given, options, name)
  const { id: traceId, externalId, agentId, updatedAt } = trace
  const namespace = trace.namespace.slug
  const session = sessions.numberOf({ namespace, traceId, externalId, agentId })
  const history = newHistoryClient(access.server, await access.token())
  const read = (cursor: string | undefined) =>
    history.messages(externalId, { namespace, limit: MESSAGES_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) })
  for await (const { messages } of pagesOf(read)) {
    signal.throwIfAborted()
    for (const message of messages) sessions.want(session, message.externalId, updatedAt ?? 0)
  }
}

/** What a file is to be made of. */
export type Wanted = {
  readonly commits: readonly CitingCommit[]
  /** The repository of the commits. */
  readonly repository: OpenRepository | undefined
  readonly sessions: WantedSessions
  /** The namespace of deletions. */
  readonly slug: () => Promise<string>
}

export type WantedOptions = ClientOptions & {
  readonly remote?: string
  readonly trace: readonly string[]
  readonly deleted: readonly string[]
}

/** Finds out what is asked for: commits, unless only sessions and deletions are named. @throws UsageError, RequestFailed, GitFailed */
export const findWanted = async (
  access: Access,
  options: WantedOptions,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Wanted> => {
  const sessions = newWantedSessions()
  const search = { sessions, signal }
  const hasCommits = names.length > 0 || options.trace.length + options.deleted.length === 0
  const found = hasCommits ? await findCommits(access, options, names, search) : undefined
  const own = found ? openAccess({ server: access.server, namespace: found.slug }) : access
  for (const name of options.trace) await wantWhole(own, options, name, search)
  const slug = async () => found?.slug ?? (await openNamespace(access)).slug
  return { commits: found?.commits ?? [], repository: found?.repository, sessions, slug }
}
