import { z } from 'zod'
import { count, done, id, nextCursor, text, time } from './fields.ts'
import { noNamespace, notMember } from './namespaces.ts'
import { Cursor, InNamespace, Key, Limit, LongText, Slug, TraceKey, aTime, badPage } from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { noTrace, notSignedIn } from './traces.ts'

/** Which session wrote a line, and commits with the lines that sessions wrote. */

export const MOST_HUNKS = 500
/** Added and removed lines of all hunks together. */
export const MOST_LINES = 5_000
export const MOST_REPOSITORIES = 8
export const MOST_WITHOUT = 100
export const MOST_COMMITS = 200

const EXAMPLE_HASH = '9f86d081884c7d65'
const EXAMPLE_SHA = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const EXAMPLE_REPOSITORY = 'git@codehost.example:my-team/app.git'

const LineHash = z
  .string()
  .regex(/^(?:[0-9a-f]{16})?$/, { error: 'must be 16 lower-case hex digits, or empty for a weak line' })
  .meta({
    id: 'LineHash',
    description:
      'The hash of a line: the first 8 bytes of HMAC-SHA-256 with the key of the namespace, of the UTF-8 of the line without its white space ' +
      '(what `\\s` of ECMAScript matches), as 16 lower-case hex digits. Empty for a weak line: one of which fewer than 8 or more than 4,096 ' +
      'UTF-16 units are left, or no three letters or digits in a row',
    examples: [EXAMPLE_HASH],
  })

const isPathInRepository = (path: string): boolean =>
  !/[\0\\]/.test(path) && !path.startsWith('/') && !path.split('/').includes('..')

const aPath = (description: string) =>
  LongText.min(1)
    .refine(isPathInRepository, { error: 'must be a path from the root of the repository, with / between its names' })
    .meta({ description, examples: ['src/app.ts'] })

const hashes = { examples: [[EXAMPLE_HASH]] }
const Hashes = z.array(LineHash).max(MOST_LINES)

const aDate = (description: string) =>
  z.int().meta({ description: `${description}, in milliseconds since 1970`, examples: [1_767_366_245_000] })

/** What one commit did at one place of one file. */
export const Hunk = z
  .object({
    path: aPath('The path of the file after the commit, from the root of the repository'),
    previousPath: aPath('The path before the commit, if it renamed the file').optional(),
    at: aDate('The author date of the commit. Default: now, for lines that are not committed').optional(),
    until: aDate('The committer date of the commit. Default: `at`').optional(),
    start: z
      .int()
      .min(1)
      .meta({ description: 'The number of the first added line. Default: 1', examples: [12] })
      .optional(),
    added: Hashes.min(1).meta({ description: 'The lines that the commit added here, in order', ...hashes }),
    removed: Hashes.meta({ description: 'The lines that it removed here', ...hashes }).optional(),
  })
  .meta({ id: 'Hunk', description: 'What one commit did at one place of one file' })
export type Hunk = z.infer<typeof Hunk>

const linesIn = (hunks: readonly Hunk[]): number =>
  hunks.reduce((sum, { added, removed = [] }) => sum + added.length + removed.length, 0)

const TOO_MANY_HUNKS = { error: `must have at most ${MOST_HUNKS} hunks, with at most ${MOST_LINES} lines together` }
const areFew = (hunks: readonly Hunk[]): boolean => hunks.length <= MOST_HUNKS && linesIn(hunks) <= MOST_LINES

const Hunks = z.array(Hunk).max(MOST_HUNKS)

const aRepository = (description: string) => LongText.min(1).meta({ description, examples: [EXAMPLE_REPOSITORY] })

const asked = {
  key: text('The `id` of the key with which the lines are hashed', 'a1b2c3d4'),
  repositories: z
    .array(aRepository('The address of a remote'))
    .max(MOST_REPOSITORIES)
    .meta({
      description:
        'The addresses of the repository’s remotes. A trace is of the repository if the last segment of its `gitRemoteUrl` is that of one of ' +
        'these, or if it has none. Default: only traces without `gitRemoteUrl`',
    })
    .optional(),
}

export const AttributionQuestion = z
  .object({
    ...asked,
    hunks: Hunks.refine(areFew, TOO_MANY_HUNKS).meta({
      description: `At most ${MOST_HUNKS}, with at most ${MOST_LINES} added and removed lines together`,
    }),
    without: z
      .array(Key)
      .max(MOST_WITHOUT)
      .meta({
        description:
          'The externalIds of traces: the answer is as if these had never been there. Unknown ones are ignored',
        examples: [['my-first-session']],
      })
      .optional(),
  })
  .meta({
    id: 'AttributionQuestion',
    description: 'Lines of a repository, of which is asked who wrote them',
    examples: [
      { key: 'a1b2c3d4', repositories: [EXAMPLE_REPOSITORY], hunks: [{ path: 'src/app.ts', added: [EXAMPLE_HASH] }] },
    ],
  })
export type AttributionQuestion = z.infer<typeof AttributionQuestion>

/** The kinds of evidence, the strongest first. */
export const evidences = ['replaced', 'run', 'moved'] as const
export const Evidence = z.enum(evidences).meta({
  id: 'Evidence',
  description:
    '`replaced`: a call replaced a line that the commit removed by these lines; `run`: a call wrote these lines into this file; `moved`: a ' +
    'call wrote these lines into another file, which counts as unknown',
})
export type Evidence = z.infer<typeof Evidence>

const namedTrace = { id: id('the trace'), externalId: text('The externalId of the trace', 'my-first-session') }

/** Neighbouring lines that one call wrote. */
export const AttributedRange = z
  .object({
    start: count('The number of the first line'),
    end: count('The number of the last line'),
    evidence: Evidence,
    trace: z
      .object({
        ...namedTrace,
        agentId: text('The agent of the session', 'claude-code'),
        title: text('The title of the trace').optional(),
        parentExternalId: text('The externalId of the trace that it comes from').optional(),
      })
      .meta({ description: 'The trace whose session wrote the lines' }),
    message: z
      .object({ externalId: text('The externalId of the message', 'message-1') })
      .meta({ description: 'The message with the call' }),
    callId: text('The id of the call', 'toolu_01'),
    model: text('The model of the message, else of the trace', 'gpt-5').optional(),
    author: z
      .object({ id: id('the user'), displayName: text('The name of the user', 'Ada').optional() })
      .meta({ description: 'The user who created the trace' }),
    at: time('When the call was made'),
  })
  .meta({
    id: 'AttributedRange',
    description:
      'Lines that one call wrote. The first and the last are not weak; weak lines between them belong to them',
  })
export type AttributedRange = z.infer<typeof AttributedRange>

export const AttributedLines = z
  .object({
    total: count('All lines'),
    weak: count('Lines that say too little to be compared'),
    replaced: count('Lines with the evidence `replaced`'),
    run: count('Lines with the evidence `run`'),
    moved: count('Lines with the evidence `moved`; they are not counted as written by a session'),
    unknown: count('All others'),
  })
  .meta({ id: 'AttributedLines', description: 'Numbers of lines by evidence: `total` is the sum of the other five' })
export type AttributedLines = z.infer<typeof AttributedLines>

const unknownLines = z
  .array(z.tuple([z.int().meta({ description: 'First line' }), z.int().meta({ description: 'Last line' })]))
  .meta({ description: 'All other lines of the hunk, in order', examples: [[[4, 9]]] })

export const Attributions = z.object({
  hunks: z
    .array(
      z.object({
        ranges: z.array(AttributedRange).meta({ description: 'What is known of the hunk: in order, none twice' }),
        unknown: unknownLines,
      }),
    )
    .meta({ description: 'An answer for each hunk, in the order of the question' }),
  lines: AttributedLines,
  indexedThrough: time('Everything that was stored up to this time is considered'),
})
export type Attributions = z.infer<typeof Attributions>

const AttributionKey = z
  .object({
    id: text('The name of the key: the first 8 hex digits of the SHA-256 of the secret', 'a1b2c3d4'),
    secret: text('The key: 32 bytes in base64'),
  })
  .meta({ id: 'AttributionKey', description: 'The key with which the members of a namespace hash lines' })

export const OneAttributionKey = z.object({ key: AttributionKey })
export type OneAttributionKey = z.infer<typeof OneAttributionKey>

const SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const aSha = (description: string) =>
  z
    .string()
    .regex(SHA, { error: 'must be 40 or 64 lower-case hex digits' })
    .meta({ description, examples: [EXAMPLE_SHA] })

const AskedCommit = z
  .object({
    sha: aSha('The id of the commit'),
    at: aDate('The author date of the commit'),
    patchId: aSha(
      'The id of its patch, as `git patch-id` makes it: a commit with the same one takes its place',
    ).optional(),
    hunks: Hunks.meta({ description: 'What it changed; `at` of a hunk is that of the commit where it has none' }),
  })
  .meta({ id: 'AskedCommit', description: 'A commit with what it changed' })

export const CommitsQuestion = z
  .object({
    ...asked,
    repository: aRepository(
      'The address of a remote by which the commits are listed; it counts as one of `repositories`',
    ),
    commits: z
      .array(AskedCommit)
      .min(1)
      .max(MOST_COMMITS)
      .refine((commits) => areFew(commits.flatMap(({ hunks }) => hunks)), TOO_MANY_HUNKS)
      .meta({ description: `1 to ${MOST_COMMITS} commits; the limits of a question hold for all together` }),
  })
  .meta({
    id: 'CommitsQuestion',
    description: 'Commits whose lines are asked for and recorded',
    examples: [
      {
        key: 'a1b2c3d4',
        repository: EXAMPLE_REPOSITORY,
        commits: [{ sha: EXAMPLE_SHA, at: 1_767_366_245_000, hunks: [{ path: 'src/app.ts', added: [EXAMPLE_HASH] }] }],
      },
    ],
  })
export type CommitsQuestion = z.infer<typeof CommitsQuestion>

const commitTraces = z
  .array(
    z.object({
      trace: z.object(namedTrace).meta({ description: 'The trace' }),
      lines: z
        .object({ replaced: count('Lines with the evidence `replaced`'), run: count('Lines with the evidence `run`') })
        .meta({ description: 'The lines of the commit that its session wrote' }),
    }),
  )
  .meta({ description: 'The traces whose sessions wrote lines of the commit; the one with the most lines comes first' })

export const CommitAnswers = z.object({
  commits: z
    .array(
      z.object({
        sha: text('The id of the commit', EXAMPLE_SHA),
        result: z.enum(['created', 'updated', 'unchanged']).meta({
          description:
            '`created`: it was not recorded before; `updated`: it was with another answer, or its twin by `patchId` was; `unchanged`: the ' +
            'same was recorded before',
        }),
        lines: AttributedLines,
        traces: commitTraces,
      }),
    )
    .meta({ description: 'An answer for each commit, in the order of the question' }),
})
export type CommitAnswers = z.infer<typeof CommitAnswers>

export const RecordedCommit = z
  .object({
    repository: text('The repository as `host/path`', 'codehost.example/my-team/app'),
    sha: text('The id of the commit', EXAMPLE_SHA),
    at: time('The author date of the commit'),
    recordedAt: time('When it was recorded: the answer says what was known then'),
    recordedBy: z
      .object({ userId: id('the user'), displayName: text('The present name of the user', 'Ada').optional() })
      .meta({ description: 'The user who recorded it' }),
    lines: AttributedLines,
    traces: commitTraces,
  })
  .meta({
    id: 'RecordedCommit',
    description: 'A recorded commit. Lines of traces that were deleted since count as unknown',
  })
export type RecordedCommit = z.infer<typeof RecordedCommit>

export const RecordedCommits = z.object({
  commits: z.array(RecordedCommit).meta({ description: 'The commits of this page, the newest author date first' }),
  nextCursor,
})
export type RecordedCommits = z.infer<typeof RecordedCommits>

const keyChanged =
  'The namespace has another key. Read it again with `GET /v1/namespaces/{slug}/attribution-key`, and hash the lines with it.'
const behind =
  'The answer would take longer than two seconds, or the service cannot answer now. Ask for fewer lines, or again after `Retry-After` seconds.'
/** Questions. */
export const attribution = {
  'GET /v1/namespaces/{slug}/attribution-key': {
    tag: 'attribution',
    summary: 'Get the key with which lines are hashed',
    description: 'Each namespace has its own key, which is made when it is first asked for. For its members.',
    auth: 'required',
    path: { slug: Slug },
    answer: data(OneAttributionKey),
    errors: { forbidden: notMember, not_found: noNamespace },
  },
  'POST /v1/namespaces/{slug}/attributions': {
    tag: 'attribution',
    summary: 'Ask which sessions wrote lines',
    description:
      'For members. Lines are given by keyed hashes, and compared with what calls of edit, write and patch tools wrote in the sessions of the ' +
      'namespace, as far as the times allow. What cannot be shown is `unknown`: nothing is guessed. The request changes nothing.',
    auth: 'required',
    path: { slug: Slug },
    body: json(AttributionQuestion),
    answer: data(Attributions),
    errors: { forbidden: notMember, not_found: noNamespace, key_changed: keyChanged, unavailable: behind },
  },
} as const satisfies Api

/** Recorded commits. */
export const recordedCommits = {
  'POST /v1/namespaces/{slug}/commits': {
    tag: 'attribution',
    summary: 'Ask which sessions wrote the lines of commits, and record it',
    description:
      'For members. Recorded are the ids of the commits, their times, and numbers of lines by trace; no line and no path. Recording a commit ' +
      'again replaces what was recorded, and so does a commit with the same `patchId`, such as a rebased one.',
    auth: 'required',
    path: { slug: Slug },
    body: json(CommitsQuestion),
    answer: data(CommitAnswers),
    errors: { forbidden: notMember, not_found: noNamespace, key_changed: keyChanged, unavailable: behind },
  },
  'GET /v1/namespaces/{slug}/commits': {
    tag: 'attribution',
    summary: 'List the recorded commits of a namespace',
    description: 'For members. The commit with the newest author date comes first.',
    auth: 'required',
    path: { slug: Slug },
    query: {
      repository: aRepository(
        'Only commits of this repository; scheme, user, port, `.git` and case do not matter',
      ).optional(),
      sha: aSha('Only the commit with this id').optional(),
      trace: Key.meta({
        description: 'Only commits with lines of the trace with this externalId',
        examples: ['my-first-session'],
      }).optional(),
      from: aTime('Only commits of this time or later').optional(),
      to: aTime('Only commits before this time', ['2026-02-01T00:00:00Z']).optional(),
      limit: Limit.optional(),
      cursor: Cursor.optional(),
    },
    answer: data(RecordedCommits),
    errors: {
      invalid_request: `${badPage} Or \`sha\`, \`from\` or \`to\` is not valid. \`details\` says which.`,
      forbidden: notMember,
      not_found: noNamespace,
    },
  },
  'DELETE /v1/namespaces/{slug}/commits/{sha}': {
    tag: 'attribution',
    summary: 'Remove the record of a commit, as who recorded it or as an admin',
    description: 'It can be recorded again.',
    auth: 'required',
    path: { slug: Slug, sha: aSha('The id of the commit') },
    query: { repository: aRepository('The repository of the commit') },
    answer: data(z.object({ removed: done('The record is removed') })),
    errors: {
      invalid_request: '`sha` is not valid, or `repository` is missing. `details` says which.',
      forbidden: 'You are no member of the namespace; or another user recorded the commit, and you are no admin.',
      not_found: 'No namespace has this slug, or no such commit of the repository is recorded in it.',
    },
  },
  'GET /v1/traces/{externalId}/commits': {
    tag: 'attribution',
    summary: 'List the recorded commits with lines of a trace',
    description: 'For members of the namespace of the trace, even if the trace is public.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: { limit: Limit.optional(), cursor: Cursor.optional(), namespace: InNamespace.optional() },
    answer: data(RecordedCommits),
    errors: {
      invalid_request: badPage,
      unauthorized: notSignedIn,
      forbidden: 'The trace is public, but only members of its namespace may see its commits.',
      not_found: noTrace,
    },
  },
} as const satisfies Api
