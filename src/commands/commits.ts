import { addByName } from '../base/add-by-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { type Line, printDocument, printLines, say } from '../cli/output.ts'
import { shortDay } from '../cli/time-text.ts'
import { MOST_WITHOUT } from '../contract/attribution.ts'
import type { AttributedLines, CommitsQuestion } from '../client/api/attribution.ts'
import { explainQuestion } from '../client/attribution/ask.ts'
import type { ChangedCommit } from '../client/attribution/commits.ts'
import { countHunks, type Numbers } from '../client/attribution/counted.ts'
import { sizeOf } from '../client/attribution/hunks.ts'
import { patchIdsOf } from '../client/git/patch-ids.ts'
import { listCommits } from '../client/git/revisions.ts'
import type { Access } from './support/access.ts'
import {
  type Attribution,
  type AttributionOptions,
  limits,
  openAttribution,
  sayIfShallow,
} from './support/attribution.ts'
import { answersFor, groupsOf, usualRange } from './support/changed-commits.ts'
import { io } from '../cli/io.ts'

type Options = AttributionOptions & { readonly record?: boolean; readonly withheld?: boolean }

type Answered = ChangedCommit & Numbers & { readonly result?: string }

const SHORT_SHA = 10
const MIN_ID = 8

/** How many lines count as written by a session. */
const countedOf = ({ replaced, run }: AttributedLines): number => replaced + run

export const linesText = ({ total, weak, replaced, run, moved, unknown }: AttributedLines): string =>
  Object.entries({ replaced, run, moved, unknown, weak })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || `${total} lines`

const commitLines = ({ commit: { sha, at, subject }, lines, traces, result }: Answered): Line[] => {
  const sessions = traces.map(({ trace }) => trace.externalId.slice(0, MIN_ID)).join(' ')
  const by = sessions === '' ? '' : `  by ${sessions}`
  const text = `${sha.slice(0, SHORT_SHA)}  ${shortDay(at) ?? ''}  ${linesText(lines)}${by}${result === undefined ? '' : `  ${result}`}  ${subject}`
  return [{ text, ...(countedOf(lines) === 0 ? { style: 'dim' as const } : {}) }]
}

const documentOf = ({ commit: { sha, subject, at }, lines, traces, result }: Answered): object => ({
  type: 'commit',
  commit: { sha, subject, at, lines, traces, ...(result === undefined ? {} : { result }) },
})

/** Asks for commits, and records the answers. Of a commit that is too large for one request no part is recorded. */
const recorded = async (attribution: Attribution, group: readonly ChangedCommit[]): Promise<readonly Answered[]> => {
  const { client, asked, recordedAs, repository } = attribution
  const [first] = group
  const size = first!.hunks.reduce((sum, hunk) => sum + sizeOf(hunk), 0)
  if (first!.hunks.length > limits.hunks || size > limits.lines) {
    say(`${first!.commit.sha} is too large to be recorded.`)
    return answersFor(attribution, group)
  }
  const patchIds = await patchIdsOf(
    repository,
    group.map(({ commit }) => commit.sha),
  )
  const commits: CommitsQuestion['commits'] = group.map(({ commit: { sha, at }, hunks }) => {
    const patchId = patchIds.get(sha)
    return { sha, at, ...(patchId === undefined ? {} : { patchId }), hunks: [...hunks] }
  })
  const answers = await client.record({ ...asked, repository: recordedAs, commits }).catch(explainQuestion)
  return group.map((changed, i) => {
    const { lines, traces, result } = answers[i]!
    return { ...changed, lines, traces, result }
  })
}

/** How many lines of a commit other sessions would get, were those that it has not there. */
const withheldFrom = async (attribution: Attribution, { hunks, traces }: Answered): Promise<number> => {
  if (traces.length === 0) return 0
  const without = traces.slice(0, MOST_WITHOUT).map(({ trace }) => trace.externalId)
  return countedOf(countHunks(hunks, await attribution.ask(hunks, { without })).lines)
}

const share = (part: number, of: number): string => (of === 0 ? '0 %' : `${((100 * part) / of).toFixed(1)} %`)

const NONE: AttributedLines = { total: 0, weak: 0, replaced: 0, run: 0, moved: 0, unknown: 0 }

/** Prints what was measured by asking without the sessions that were found. */
const printWithheld = async (lines: AttributedLines, wrong: number, json: boolean | undefined): Promise<void> => {
  const compared = lines.total - lines.weak
  if (json) await printDocument({ type: 'withheld', lines: compared, counted: countedOf(lines), withheld: wrong })
  else
    await printLines([
      `${share(countedOf(lines), compared)} of ${compared} lines that can be compared are counted. Without these sessions others would get ${share(wrong, compared)}: as often about, a line is said to be of a session that did not write it, where its own was not uploaded.`,
    ])
}

/** Says for each commit which sessions wrote how many of its lines. */
export const commits = async (access: Access, options: Options, names: readonly string[]): Promise<number> => {
  const attribution = await openAttribution(access, options, io().cwd)
  const asked = names.length > 0 ? names : [await usualRange(attribution)]
  const listed = await listCommits(attribution.repository, asked)
  sayIfShallow(attribution)
  let [sum, wrong, isWhole] = [NONE, 0, true]
  for await (const group of groupsOf(attribution, listed)) {
    const answers: readonly Answered[] = await (options.record ? recorded : answersFor)(attribution, group)
    for (const answered of answers) {
      if (options.json) await printDocument(documentOf(answered))
      else await printLines(commitLines(answered))
      sum = addByName(sum, answered.lines)
      isWhole &&= !options.record || answered.result !== undefined
      if (options.withheld) wrong += await withheldFrom(attribution, answered)
    }
  }
  if (options.withheld) await printWithheld(sum, wrong, options.json)
  if (listed.length === 0 && !options.json) say(`There are no commits in ${asked.join(' ')}.`)
  return isWhole ? exitCodes.ok : exitCodes.failed
}
