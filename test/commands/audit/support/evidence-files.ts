import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Evidence, EvidenceEvent } from '../../../../src/contract/evidence.ts'
import { signCheckpoint } from '../../../../src/server/proof/checkpoint.ts'
import { type Signer, generateSigner, signNote } from '../../../../src/server/proof/note.ts'
import { leafHash } from '../../../../src/server/proof/tree.ts'
import { naivePath, naiveProof, naiveRoot } from '../../../server/proof/naive.ts'
import { signer } from '../../../server/proof/support.ts'

export const witness = generateSigner('witness.example.org')

/** Strings of an event, as a log has them. */
type Parts = readonly [id: string, stream: string, type: string, metadata: string, data: string]

export const AT = Date.parse('2026-03-02T10:00:00.000Z')

/** An entry of a log. */
export const entryOf = (stream: string, type: string, data: unknown, at: unknown = AT): string => {
  const metadata = { at, actor: { userId: 'u1' }, schema: 1, append: { id: 'a', index: 0, size: 1 } }
  return JSON.stringify(['e', `trace-${stream}`, type, JSON.stringify(metadata), JSON.stringify(data)] satisfies Parts)
}

const base64 = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))

/** A log with these entries, signed by whoever has the key. */
export const logOf = (entries: readonly string[], by: Signer = signer) => {
  const leaves = entries.map(leafHash)
  const note = (size = leaves.length) => signCheckpoint({ size, root: naiveRoot(leaves.slice(0, size)) }, by)
  const proofOf = (index: number) => ({ index, proof: base64(naivePath(index, leaves)) })
  return {
    note,
    log: { origin: by.name, key: by.verifier.text, checkpoint: note() },
    shown: (index: number): EvidenceEvent => ({ ...proofOf(index), entry: entries[index]! }),
    withheld: (index: number): EvidenceEvent => ({ ...proofOf(index), leaf: leaves[index]!.toString('base64') }),
    previous: (size: number) => ({ checkpoint: note(size), proof: base64(naiveProof(size, leaves)) }),
  }
}

/** A file without events. */
export const emptyFile = (log: Evidence['log']): Evidence => ({
  ...{ format: 'tracebook-evidence/1', madeAt: AT, madeBy: 'tracebook 0.0.0', log },
  ...{ events: [], sessions: [], commits: [], deletions: [] },
})

/** A file with one event and nothing else, which its log has as it is. */
export const fileOfEntry = (entry: string): Evidence => {
  const { log, shown } = logOf([entry])
  return { ...emptyFile(log), events: [shown(0)] }
}

export const session = (traceId: string, externalId: string, begins: number) => ({
  ...{ namespace: 'my-team', traceId, externalId, agentId: 'claude-code', begins },
})

const calls = (externalId: string, ...texts: readonly string[]) => ({
  externalId,
  parts: texts.map((content) => ({
    type: 'tool_call',
    content: { toolName: 'Write', args: { file_path: 'src/a.ts', content } },
  })),
})

/** Lines of the file that the commits have: 1 to 4 are of the session `one`, 5 was typed, 6 and 7 are of `two`. */
export const LINES = [
  'export const first = compute(1)',
  '}',
  '\tconst second  = compute(2)\r',
  'const größe = "\u{1f600} \u{20000}\u{20001}\u{20002}"',
  'typed by a person, nowhere else',
  'const patched = await third()',
  '',
]

/** Lines of `odd.txt` that decoders and libraries like to read differently; their bytes are those of Latin-1. */
const ODD = [
  '\u00fftruncated sequences \u00e2\u0082 and \u00f0\u009f\u0098 and \u00e9',
  '\u0085next line and NUL \u0000 are no white space',
  'bytes that are a character \u00c3 \u00a9 without the white space',
  'the last line has no line feed',
]

const ODD_AS_AN_AGENT_HAS_IT = [
  '\ufffdtruncated sequences \ufffd\ufffd and \ufffd and \ud800',
  '\ufffdnext line and NUL \u0000 are no white\u2003space\ufeff',
  'bytes that are a character \ufffd \ufffd without the white space',
  'the last line\u00a0has no line feed',
].join('\r\n')

const put = (repo: string, file: string, content: string | Buffer) => {
  mkdirSync(dirname(join(repo, file)), { recursive: true })
  writeFileSync(join(repo, file), content)
}

/** A name that commits of another format have. */
export const TAG_LIKE_A_COMMIT = 'e'.repeat(64)

/** A repository with one commit, and the names of the commit and of its tree. For git, one of its files has been replaced since. */
export const newRepository = (folder: string, name: string) => {
  const repo = join(folder, name)
  mkdirSync(repo)
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      ...{ cwd: repo, env, encoding: 'utf8', stdio: 'pipe' },
    }).trim()
  git('init', '--quiet')
  put(repo, 'src/a.ts', `${LINES.join('\n')}\n`)
  put(repo, 'odd.txt', Buffer.from(ODD.join('\n'), 'latin1'))
  put(repo, 'empty.txt', '')
  git('add', '--all')
  git('commit', '--quiet', '--message=change')
  git('tag', '--annotate', '--message=release', 'v1')
  git('tag', TAG_LIKE_A_COMMIT)
  git('replace', 'HEAD:src/a.ts', 'HEAD:odd.txt')
  return { repo, sha: git('rev-parse', 'HEAD'), tree: git('rev-parse', 'HEAD^{tree}'), tag: git('rev-parse', 'v1') }
}

export const ENTRIES = [
  entryOf('t1', 'TraceCreated', { externalId: 'one' }),
  entryOf('t1', 'MessageAdded', calls('m1', `${LINES.slice(0, 2).join('\n')}\nconst second = compute(2)\n`)),
  entryOf('t2', 'TraceCreated', { externalId: 'two \ud800' }),
  entryOf(
    't2',
    'MessageAdded',
    calls('m1', '*** Begin Patch\n+const patched = await third()\n', ODD_AS_AN_AGENT_HAS_IT),
    AT + 5,
  ),
  entryOf('t1', 'MessageUpdated', calls('m1', LINES[3]!), AT + 1),
  entryOf('t3', 'TraceDeleted', { externalId: 'three' }),
  entryOf('t9', 'TraceUpdated', { patch: [] }),
  entryOf('t4', 'MessageRestated', calls('m1', 'nothing of the past')),
  entryOf('t4', 'HistoryErased', { externalId: 'four', erased: 3 }),
  entryOf('t1', 'TraceDeleted', { externalId: 'one' }, AT + 2),
  entryOf('t1', 'TraceCreated', { externalId: 'one' }, AT + 2),
]

/** A file of two sessions with the lines of one commit, a deletion and an older checkpoint. `events` are the first seven of the log. */
export const fullFile = (sha: string): Evidence => {
  const { log, shown, previous } = logOf(ENTRIES)
  const range = { path: 'src/a.ts', evidence: 'run' as const, session: 0, events: [1, 4] }
  return {
    ...emptyFile({ ...log, previous: previous(3) }),
    events: ENTRIES.slice(0, 7).map((_, index) => shown(index)),
    sessions: [session('t1', 'one', 0), session('t2', 'two \ufffd', 2)],
    commits: [
      {
        ...{ repository: 'git.example.org/app', sha },
        ranges: [
          { ...range, start: 1, end: 4 },
          { ...range, start: 6, end: 7, evidence: 'replaced', session: 1, events: [3] },
          { ...range, path: 'odd.txt', start: 1, end: 4, session: 1, events: [3] },
        ],
        unknown: [{ path: 'src/a.ts', start: 5, end: 5 }],
      },
    ],
    deletions: [{ traceId: 't3', event: 5 }],
  }
}

/** All that makes a file of content, without its `log`. */
const contentOf = ({ log: _, ...content }: Evidence) => content

const WORTHLESS = '{"n":[1.5,-0,1e400,12345678901234567890],"lone":"\\ud800","entry":null}'

/** Files that hold, with the repository of `newRepository`. */
export const goodFiles = (sha: string): [what: string, file: Evidence | string][] => {
  const full = fullFile(sha)
  const { log, shown, withheld, note, previous } = logOf(ENTRIES)
  const text = JSON.stringify(full)
  const cosigned = `${note()}${signNote(`${note().split('\n\n')[0]!}\n`, witness)
    .split('\n')
    .at(-2)!}\n`
  const one = logOf(ENTRIES.slice(0, 1))
  return [
    ['everything', full],
    ['no commits', { ...full, commits: [] }],
    ['no lines', { ...full, commits: [{ sha, ranges: [], unknown: [] }] }],
    ['all events withheld', { ...full, events: full.events.map(({ index }) => withheld(index)) }],
    ['an event of a range withheld', { ...full, events: full.events.with(1, withheld(1)) }],
    ['a deletion withheld', { ...full, events: full.events.with(5, withheld(5)) }],
    ['no older checkpoint', { ...full, log }],
    ...[1, 2, 4, 8, 10, 11].map((size): [string, Evidence] => [
      `an older checkpoint of ${size}`,
      { ...full, log: { ...log, previous: previous(size) } },
    ]),
    ['empty lists', emptyFile(log)],
    ['an empty log', emptyFile(logOf([]).log)],
    ['a tree of one event', { ...emptyFile(one.log), events: [one.shown(0)], sessions: [session('t1', 'one', 0)] }],
    ['a past that was erased', { ...emptyFile(log), events: [7, 8].map(shown), sessions: [session('t4', 'four', 1)] }],
    [
      'a session that was deleted, and created again',
      {
        ...emptyFile(log),
        events: [0, 9, 10].map(shown),
        sessions: [session('t1', 'one', 0), session('t1', 'one', 2)],
        deletions: [{ traceId: 't1', event: 1 }],
      },
    ],
    ['a checkpoint with a witness', { ...full, log: { ...log, checkpoint: cosigned } }],
    ['white space and another order', JSON.stringify({ log: full.log, ...contentOf(full) }, null, 2)],
    ['unknown members', text.replace('{"format"', `{"Format":${WORTHLESS},"log ":1,"format"`)],
    ['unknown members in an event', text.replace('{"index":0,', `{"index":0,"Leaf":${WORTHLESS},"LEAF":"x",`)],
    ['escaped names and strings', text.replace('"format"', '"f\\u006frmat"').replace('"one"', '"\\u006fne"')],
    ['nested as deep as may be', text.replace('{"format"', `{"deep":${'['.repeat(999)}1${']'.repeat(999)},"format"`)],
    ['a lone surrogate for U+FFFD', text.replaceAll('"two \ufffd"', '"two \\udfff"')],
  ]
}
