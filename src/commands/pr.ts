import { addByName } from '../base/add-by-name.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { printDocument, say, writeOut } from '../cli/output.ts'
import { hasStatus } from '../client/api/errors.ts'
import type { AttributedRange } from '../client/api/attribution.ts'
import { traceLink } from '../client/api/trace-link.ts'
import { newTracesClient, type TraceDetail } from '../client/api/traces.ts'
import { newPromptBefore, textOf } from '../client/attribution/conversation.ts'
import type { Numbers } from '../client/attribution/counted.ts'
import { type DescribedSession, descriptionOf } from '../client/attribution/description.ts'
import type { OpenRepository } from '../client/git/open-repository.ts'
import { commitNamed, listCommits, mergeBases, requireCommit } from '../client/git/revisions.ts'
import { type Access, noticedTiming } from './support/access.ts'
import {
  type Attribution,
  type AttributionOptions,
  openAttribution,
  readAroundIn,
  sayIfShallow,
} from './support/attribution.ts'
import { type AnsweredCommit, answersFor, groupsOf } from './support/changed-commits.ts'

/** The branches on which a branch usually ends, in the order in which they are tried. */
const DEFAULT_BRANCHES = [
  'refs/remotes/origin/HEAD',
  'refs/remotes/origin/main',
  'refs/remotes/origin/master',
  '@{upstream}',
]

/** Where the branch left the upstream's default branch. @throws UsageError */
const usualBase = async (repository: OpenRepository): Promise<string> => {
  for (const name of DEFAULT_BRANCHES) {
    const branch = await commitNamed(repository, name)
    const [base] =
      branch === undefined ? [] : await mergeBases(repository, branch, await requireCommit(repository, 'HEAD'))
    if (base !== undefined) return base
  }
  throw new UsageError('It is not known where this branch began: name the commit or branch, such as main.')
}

type Found = { readonly ranges: AttributedRange[]; readonly lines: { replaced: number; run: number } }

/** The sessions that count in commits, those with the most lines first. */
const sessionsIn = (commits: readonly AnsweredCommit[]): Found[] => {
  const found = new Map<string, Found>()
  for (const { ranges, traces } of commits) {
    for (const { trace, lines } of traces) {
      const session = found.get(trace.id) ?? { ranges: [], lines: { replaced: 0, run: 0 } }
      session.lines.replaced += lines.replaced
      session.lines.run += lines.run
      found.set(trace.id, session)
    }
    for (const range of ranges) if (range.evidence !== 'moved') found.get(range.trace.id)?.ranges.push(range)
  }
  return [...found.values()].sort((a, b) => b.lines.replaced + b.lines.run - a.lines.replaced - a.lines.run)
}

/** The prompts before the calls, each once, the first one first. */
const promptsOf = async (attribution: Attribution, ranges: readonly AttributedRange[]): Promise<string[]> => {
  const promptBefore = newPromptBefore(readAroundIn(attribution, ranges[0]!.trace.externalId))
  const prompts = new Map<string, string>()
  for (const { message } of ranges.toSorted((a, b) => b.at - a.at)) {
    const prompt = await promptBefore(message.externalId)
    if (prompt) prompts.set(prompt.externalId, textOf(prompt))
  }
  return [...prompts.values()].reverse()
}

/** A session as the description has it; undefined if it was deleted meanwhile. */
const described = async (attribution: Attribution, { ranges, lines }: Found): Promise<DescribedSession | undefined> => {
  const { server, slug, token } = attribution
  const { trace, author } = ranges[0]!
  const detail: TraceDetail | undefined = await newTracesClient(server, token, noticedTiming)
    .trace(trace.externalId, slug)
    .catch((error: unknown) => {
      if (hasStatus(error, 404, 308, 410)) return undefined
      throw error
    })
  if (!detail) return undefined
  const prompts = await promptsOf(attribution, ranges)
  const cost = detail.cost === undefined ? {} : { cost: detail.cost }
  const title = detail.title ?? detail.ai_title
  const named = title === undefined ? trace : { ...trace, title }
  return { trace: named, author, lines, prompts, url: traceLink(server, slug, trace.externalId), ...cost }
}

/** Prints a description of what was done since a commit: the sessions that wrote lines, their prompts, numbers of lines. Nothing is posted. */
export const pr = async (access: Access, options: AttributionOptions, given: string | undefined): Promise<number> => {
  const attribution = await openAttribution(access, options, io().cwd)
  const { repository } = attribution
  const base = given === undefined ? await usualBase(repository) : await requireCommit(repository, given)
  const commits = await listCommits(repository, [`${base}..HEAD`])
  sayIfShallow(attribution)
  const answered: AnsweredCommit[] = []
  for await (const group of groupsOf(attribution, commits)) answered.push(...(await answersFor(attribution, group)))
  const [first, ...rest] = answered
  if (!first) {
    say(`There are no commits since ${base}.`)
    return exitCodes.ok
  }
  const lines: Numbers['lines'] = rest.reduce((sum, one) => addByName(sum, one.lines), first.lines)
  const sessions: DescribedSession[] = []
  for (const found of sessionsIn(answered)) {
    const session = await described(attribution, found)
    if (session) sessions.push(session)
  }
  if (options.json) {
    for (const session of sessions) await printDocument({ type: 'session', ...session })
    await printDocument({ type: 'lines', ...lines })
  } else await writeOut(descriptionOf({ sessions, lines, commits: answered.length }))
  return exitCodes.ok
}
