import type { Evidence, EvidenceEvent, EvidenceRange, EvidenceSession } from '../../../../src/contract/evidence.ts'
import { createHash } from 'node:crypto'
import { signCheckpoint } from '../../../../src/server/proof/checkpoint.ts'
import { generateSigner, signNote } from '../../../../src/server/proof/note.ts'
import { leafHash } from '../../../../src/server/proof/tree.ts'
import { signer } from '../../../server/proof/support.ts'
import {
  AT,
  ENTRIES,
  TAG_LIKE_A_COMMIT,
  emptyFile,
  entryOf,
  fileOfEntry,
  fullFile,
  logOf,
  session,
  witness,
} from './evidence-files.ts'

/** A forged file; `step` is the one that fails, if only one may be named. */
export type Forgery = readonly [step: 'any' | 'format' | 1 | 2 | 3 | 4 | 5 | 6 | 7, what: string, file: unknown]

export type Repository = { readonly sha: string; readonly tree: string; readonly tag: string }

const hash = Buffer.alloc(32, 7).toString('base64')
const impostor = generateSigner(signer.name)

const signatureOf = (note: string): string => note.split('\n').at(-2)!
const textOf = (note: string): string => `${note.split('\n\n')[0]!}\n`
/** The same 32 or 68 bytes for a decoder that does not look at the bits that nothing is left of. */
const withLastLetter = (base64: string): string =>
  base64.replace(/(.)=$/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=`)

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const SECOND_HALF = 4 + 32

/** The same signature to whoever does not look whether its number is below the order of the group. */
const withNumberNotReduced = (signature: string): string => {
  const [dash, name, encoded] = signature.split(' ') as [string, string, string]
  const bytes = Buffer.from(encoded, 'base64')
  bytes.set(bytesOfNumber(littleEndian(bytes.subarray(SECOND_HALF)) + ORDER), SECOND_HALF)
  return [dash, name, bytes.toString('base64')].join(' ')
}

/** The neutral point of the curve, of order 1. */
const NEUTRAL = Buffer.concat([Buffer.of(1), Buffer.alloc(31)])
const hashNumber = (...parts: readonly Uint8Array[]) =>
  littleEndian(parts.reduce((hash, part) => hash.update(part), createHash('sha512')).digest())
const littleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
const bytesOfNumber = (number: bigint) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse()

/** A note that its key has signed with the neutral point for a random one: some libraries accept that. */
const signWithoutChance = (text: string): string => {
  const [seed, point] = [signer.text, signer.verifier.text].map((key) =>
    Buffer.from(key.split('+').at(-1)!, 'base64').subarray(1),
  ) as [Buffer, Buffer]
  const secret = createHash('sha512').update(seed).digest().subarray(0, 32)
  secret[0]! &= 248
  secret[31] = (secret[31]! & 127) | 64
  const number = (hashNumber(NEUTRAL, point, Buffer.from(text)) * littleEndian(secret)) % ORDER
  const signature = Buffer.concat([signer.verifier.id, NEUTRAL, bytesOfNumber(number)])
  return `${text}\n\u2014 ${signer.name} ${signature.toString('base64')}\n`
}

/** A key that everybody can sign with, and what it has signed. */
const keyOfAll = (text: string) => {
  const key = Buffer.concat([Buffer.of(1), NEUTRAL])
  const id = createHash('sha256').update(`${signer.name}\n`).update(key).digest().subarray(0, 4)
  const signature = Buffer.concat([id, NEUTRAL, Buffer.alloc(32)])
  return {
    key: `${signer.name}+${id.toString('hex')}+${key.toString('base64')}`,
    checkpoint: `${text}\n\u2014 ${signer.name} ${signature.toString('base64')}\n`,
  }
}

const { log, note, shown, withheld, previous } = logOf(ENTRIES)

/** What may be changed in the parts of a file that holds. */
const newEdits = (sha: string) => {
  const edit = (change: (file: Evidence) => void): Evidence => {
    const file = fullFile(sha)
    change(file)
    return file
  }
  type Loose<T> = { [name in keyof T]?: unknown }
  return {
    edit,
    log: (more: Loose<Evidence['log']>) => edit((file) => void Object.assign(file.log, more)),
    event: (i: number, more: Loose<EvidenceEvent>) => edit(({ events }) => void Object.assign(events[i]!, more)),
    session: (i: number, more: Loose<EvidenceSession>) => edit((file) => void Object.assign(file.sessions[i]!, more)),
    range: (i: number, more: Loose<EvidenceRange>) =>
      edit(({ commits }) => void Object.assign(commits[0]!.ranges[i]!, more)),
    commit: (more: object) => edit(({ commits }) => void Object.assign(commits[0]!, more)),
    text: (from: string | RegExp, to: string): string => {
      const text = JSON.stringify(fullFile(sha))
      const forged = text.replace(from, to)
      if (forged === text) throw new Error(`nothing is forged by ${from}`)
      return forged
    },
  }
}

const good: readonly string[] = ['e', 'trace-t', 'TraceUpdated', `{"at":${AT}}`, '{}']
const signedEntry = (...parts: readonly unknown[]) => fileOfEntry(JSON.stringify(parts))

/** Entries that only a log with this key could have, with something else than an event. */
const ofTheLog = (): Forgery[] => {
  const back = logOf([
    entryOf('t', 'TraceUpdated', {}, 5),
    entryOf('u', 'A', {}, 9),
    entryOf('t', 'TraceUpdated', {}, 4),
  ])
  return [
    [3, 'an entry of four strings', signedEntry(...good.slice(1))],
    [3, 'an entry of six strings', signedEntry(...good, '')],
    [3, 'an entry with a number', signedEntry(1, ...good.slice(1))],
    [3, 'an entry with null', signedEntry(null, ...good.slice(1))],
    [3, 'an entry that is an object', fileOfEntry('{"0":"e"}')],
    [3, 'an entry that is no JSON', fileOfEntry(`${JSON.stringify(good)},`)],
    [3, 'an entry with a comma too many', fileOfEntry(JSON.stringify(good).replace(']', ',]'))],
    [3, 'an empty entry', fileOfEntry('')],
    [3, 'metadata that are no JSON', signedEntry(...good.with(3, 'at'))],
    [3, 'metadata without a time', signedEntry(...good.with(3, '{"At":1}'))],
    [3, 'metadata that are a list', signedEntry(...good.with(3, '[1]'))],
    [3, 'a time that is a string', signedEntry(...good.with(3, '{"at":"1"}'))],
    [3, 'a time that is null', signedEntry(...good.with(3, '{"at":null}'))],
    [3, 'a time with a fraction', signedEntry(...good.with(3, '{"at":1.0}'))],
    [3, 'a time with an exponent', signedEntry(...good.with(3, '{"at":1e3}'))],
    [3, 'a time before 1970', signedEntry(...good.with(3, '{"at":-1}'))],
    [3, 'a time that doubles do not have', signedEntry(...good.with(3, '{"at":9007199254740993}'))],
    [3, 'a time that stands twice', signedEntry(...good.with(3, '{"at":1,"\\u0061t":2}'))],
    [3, 'data that are no JSON', signedEntry(...good.with(4, ''))],
    [3, 'data with NaN', signedEntry(...good.with(4, '[NaN]'))],
    [3, 'data with a minus before infinity', signedEntry(...good.with(4, '[-Infinity]'))],
    [3, 'data with a line feed in a string', signedEntry(...good.with(4, '"a\nb"'))],
    [3, 'data with single quotes', signedEntry(...good.with(4, "{'a':1}"))],
    [3, 'data with a number that begins with zero', signedEntry(...good.with(4, '[01]'))],
    [3, 'data with a member twice', signedEntry(...good.with(4, '[{"a":"x","a":"y"}]'))],
    [3, 'data nested too deep', signedEntry(...good.with(4, `${'['.repeat(1_001)}1${']'.repeat(1_001)}`))],
    [3, 'data nested very deep', signedEntry(...good.with(4, `${'['.repeat(100_000)}${']'.repeat(100_000)}`))],
    [3, 'a time that goes back in its stream', { ...emptyFile(back.log), events: [0, 1, 2].map(back.shown) }],
    [
      4,
      'a session by a number',
      { ...fileOfEntry(entryOf('t', 'TraceCreated', { externalId: 5 })), sessions: [session('t', '5', 0)] },
    ],
    [
      4,
      'a session without a name',
      { ...fileOfEntry(entryOf('t', 'TraceCreated', [])), sessions: [session('t', '', 0)] },
    ],
    [
      4,
      'a session by a string',
      { ...fileOfEntry(entryOf('t', 'TraceCreated', 'x')), sessions: [session('t', 'x', 0)] },
    ],
  ]
}

const inTheForm = ({ sha }: Repository): Forgery[] => {
  const { edit, log: ofLog, event, session: ofSession, range, commit, text } = newEdits(sha)
  const whole = JSON.stringify(fullFile(sha))
  return [
    ['format', 'another format', { ...fullFile(sha), format: 'tracebook-evidence/2' }],
    ['format', 'a byte order mark', `\ufeff${whole}`],
    ['format', 'bytes after it', `${whole}x`],
    ['format', 'a second value after it', `${whole}{}`],
    ['format', 'its beginning alone', whole.slice(0, -1)],
    ['format', 'no UTF-8', Buffer.concat([Buffer.from(whole.slice(0, -1)), Buffer.from(',"x":"\u00ff"}', 'latin1')])],
    [
      'format',
      'a surrogate in UTF-8',
      Buffer.from(whole.replace('my-team', 'XYZ')).fill(
        Buffer.from([0xed, 0xa0, 0x80]),
        whole.indexOf('my-team'),
        whole.indexOf('my-team') + 3,
      ),
    ],
    ['format', 'UTF-16', Buffer.from(`\ufeff${whole}`, 'utf16le')],
    ['format', 'nothing', ''],
    ['format', 'null', 'null'],
    ['format', 'a list', `[${whole}]`],
    ['format', 'a comment', whole.replace('{', '{/* */')],
    ['format', 'a comma too many', `${whole.slice(0, -1)},}`],
    ['format', 'a member twice', text('"madeAt"', '"format":"tracebook-evidence/1","madeAt"')],
    ['format', 'a member twice, escaped once', text('"madeAt"', '"f\\u006frmat":"tracebook-evidence/1","madeAt"')],
    ['format', 'an unknown member twice', text('"madeAt"', '"x":1,"x":2,"madeAt"')],
    ['format', 'two names that differ in lone surrogates', text('"madeAt"', '"\\ud800":1,"\\udc00":2,"madeAt"')],
    ['format', 'an infinite unknown member', text('"madeAt"', '"x":Infinity,"madeAt"')],
    [
      'format',
      'an unknown member nested too deep',
      text('"madeAt"', `"x":${'['.repeat(1_000)}1${']'.repeat(1_000)},"madeAt"`),
    ],
    ['any', 'a name in other letters', text('"origin"', '"Origin"')],
    ['any', 'a list in other letters', text('"deletions"', '"Deletions"')],
    ['any', 'no list of commits', text('"commits"', '"commit"')],
    ['any', 'a maker that is a number', text('"tracebook 0.0.0"', '0')],
    ['any', 'no time of making', text(/"madeAt":\d+/, '"madeAt":null')],
    ['any', 'sessions that are an object', text('"sessions":[', '"x":0,"sessions":{},"was":[')],
    ['any', 'an older checkpoint that is null', ofLog({ previous: null })],
    ['any', 'a key that is a list', ofLog({ key: [log.key] })],
    ['any', 'a place with a fraction', text('"begins":0', '"begins":0.0')],
    ['any', 'a place with an exponent', text('"begins":0', '"begins":0e0')],
    ['any', 'a place below zero', text('"begins":0', '"begins":-0')],
    ['any', 'a place as a string', ofSession(0, { begins: '0' })],
    ['any', 'a place that is true', range(0, { session: true })],
    ['any', 'an agent that is null', ofSession(0, { agentId: null })],
    ['any', 'no namespace', ofSession(0, { namespace: undefined })],
    ['any', 'a repository that is a number', commit({ repository: 1 })],
    ['any', 'a repository that is null', commit({ repository: null })],
    ['any', 'a kind of evidence that is not counted', range(0, { evidence: 'moved' })],
    ['any', 'a range without events', range(0, { events: [] })],
    ['any', 'a range that is a list', commit({ ranges: [[]] })],
    ['any', 'a commit by its branch', commit({ sha: 'HEAD' })],
    ['any', 'a commit by its beginning', commit({ sha: sha.slice(0, 12) })],
    ['any', 'a commit in capitals', commit({ sha: `A${sha.slice(1)}` })],
    ['any', 'a commit with a line feed', commit({ sha: `${sha}\n` })],
    [
      'any',
      'a commit that clears a terminal',
      commit({ sha: '\u001b[2J\u001b[Hthese 212 lines were in recorded calls' }),
    ],
    ['any', 'a path out of the repository', range(0, { path: '../src/a.ts' })],
    ['any', 'a path through itself', range(0, { path: 'src/./a.ts' })],
    ['any', 'a path with two slashes', range(0, { path: 'src//a.ts' })],
    ['any', 'a path that ends with a slash', range(0, { path: 'src/a.ts/' })],
    ['any', 'an absolute path', range(0, { path: '/src/a.ts' })],
    ['any', 'an empty path', range(0, { path: '' })],
    ['any', 'a very long path', range(0, { path: `${'a/'.repeat(2_048)}b` })],
    ['any', 'a path with NUL', range(0, { path: 'src/a.ts\0' })],
    ['any', 'line 0', range(0, { start: 0 })],
    ['any', 'a range that ends before its start', range(0, { start: 4, end: 3 })],
    ['any', 'an event with entry and leaf', event(1, { leaf: leafHash(ENTRIES[1]!).toString('base64') })],
    ['any', 'an event with entry, and a leaf of null', event(1, { leaf: null })],
    ['any', 'an event with neither', event(1, { entry: undefined })],
    ['any', 'an entry that is not text', event(1, { entry: JSON.parse(ENTRIES[1]!) as unknown })],
    ['any', 'a proof that is text', event(0, { proof: '' })],
    ['any', 'an index as text', event(0, { index: '0' })],
    ['any', 'an index that doubles do not have', text('"index":0', '"index":9007199254740993')],
    ['any', 'an index of twenty digits', text('"index":0', '"index":18446744073709551616')],
    ['any', 'an index that begins with zero', text('"index":1,', '"index":01,')],
    ['any', 'an event twice', edit(({ events }) => void events.push(events.at(-1)!))],
    ['any', 'events in another order', edit(({ events }) => void events.splice(0, 2, events[1]!, events[0]!))],
  ]
}

const inTheCheckpoint = ({ sha }: Repository): Forgery[] => {
  const { log: ofLog } = newEdits(sha)
  const checkpoint = note()
  const signature = signatureOf(checkpoint)
  const changed = (from: string | RegExp, to: string) => ofLog({ checkpoint: checkpoint.replace(from, to) })
  const signed = (text: string, by = signer) => ofLog({ checkpoint: signNote(text, by) })
  const [origin, size, root] = textOf(checkpoint).split('\n') as [string, string, string]
  return [
    [1, 'another origin', ofLog({ origin: 'elsewhere.example/log' })],
    [1, 'another size', changed(`\n${size}\n`, `\n${Number(size) + 1}\n`)],
    [1, 'another root', changed(root, hash)],
    [1, 'another name in its text', changed(origin, 'elsewhere.example/log')],
    [1, 'an extension that was not signed', changed('\n\n', '\nmore\n\n')],
    [1, 'no last line feed', ofLog({ checkpoint: checkpoint.slice(0, -1) })],
    [1, 'an empty line after it', ofLog({ checkpoint: `${checkpoint}\n` })],
    [1, 'a carriage return', changed('\n\n', '\r\n\r\n')],
    [1, 'a signature of an impostor', signed(textOf(checkpoint), impostor)],
    [1, 'a changed signature', changed(signature, `${signature.slice(0, -8)}AAAAAA==`)],
    [1, 'a signature that is cut off', changed(signature, `${signature.slice(0, -4)}`)],
    [1, 'a signature that stands for the same one', changed(signature, withNumberNotReduced(signature))],
    [1, 'a signature that libraries do not agree on', ofLog({ checkpoint: signWithoutChance(textOf(checkpoint)) })],
    [1, 'a signature in other letters', changed(signature, withLastLetter(signature))],
    [1, 'a signature twice', ofLog({ checkpoint: `${checkpoint}${signature}\n` })],
    [
      1,
      'a second signature of the key that is wrong',
      ofLog({ checkpoint: `${checkpoint}${signature.slice(0, -8)}AAAAAA==\n` }),
    ],
    [1, 'a line that is no signature', ofLog({ checkpoint: `${checkpoint}garbage\n` })],
    [
      1,
      'a signature of a witness twice',
      ofLog({ checkpoint: `${checkpoint}${`${signatureOf(signNote(textOf(checkpoint), witness))}\n`.repeat(2)}` }),
    ],
    [
      1,
      'a signature of a name with a byte order mark',
      ofLog({ checkpoint: `${checkpoint}\u2014 a\ufeffb ${signature.split(' ').at(-1)!}\n` }),
    ],
    [
      1,
      'a signature of a name with a next line',
      ofLog({ checkpoint: `${checkpoint}\u2014 a\u0085b ${signature.split(' ').at(-1)!}\n` }),
    ],
    [
      1,
      'more than a hundred signatures',
      ofLog({
        checkpoint: `${checkpoint}${Array.from({ length: 100 }, (_, i) => `\u2014 w${i} AAAAAAAA\n`).join('')}`,
      }),
    ],
    [
      1,
      'a checkpoint of another log by the same key',
      {
        ...signed(`other\n${size}\n${root}\n`),
        ...{ log: { ...log, origin: 'other', checkpoint: signNote(`other\n${size}\n${root}\n`, signer) } },
      },
    ],
    [1, 'a signed text that is no checkpoint', signed(`${origin}\n${size}\n`)],
    [1, 'a size that begins with zero', signed(`${origin}\n0${size}\n${root}\n`)],
    [1, 'a size with a plus sign', signed(`${origin}\n+${size}\n${root}\n`)],
    [1, 'a size that doubles do not have', signed(`${origin}\n9007199254740993\n${root}\n`)],
    [1, 'a size in other digits', signed(`${origin}\n\u0661\n${root}\n`)],
    [1, 'a root in other letters', signed(`${origin}\n${size}\n${withLastLetter(root)}\n`)],
    [1, 'a root of 31 bytes', signed(`${origin}\n${size}\n${Buffer.alloc(31).toString('base64')}\n`)],
    [1, 'an empty extension', signed(`${origin}\n${size}\n${root}\n\nmore\n`)],
  ]
}

/** With no other key known, the one in the file must be one. */
export const forgedKeys = ({ sha }: Repository): Forgery[] => {
  const { log: ofLog } = newEdits(sha)
  const [name, id, bytes] = log.key.split('+') as [string, string, string]
  return [
    [1, 'a key of an impostor', ofLog({ key: impostor.verifier.text })],
    [1, 'a key that everybody can sign with', ofLog(keyOfAll(textOf(note())))],
    [1, 'a key with another hash', ofLog({ key: `${name}+00000000+${bytes}` })],
    [1, 'a key in capitals', ofLog({ key: `${name}+${id.toUpperCase()}F+${bytes}` })],
    [1, 'a key with a line feed', ofLog({ key: `${log.key}\n` })],
    [1, 'a key that is divided', ofLog({ key: `${name}+${id}+${bytes.slice(0, 10)}\n${bytes.slice(10)}` })],
    [1, 'a private key', ofLog({ key: signer.text })],
    [1, 'no key', ofLog({ key: '' })],
    [1, 'a key of 31 bytes', ofLog({ key: `${name}+${id}+${bytes.slice(0, -4)}` })],
  ]
}

const inTheEvents = ({ sha }: Repository): Forgery[] => {
  const { edit, event } = newEdits(sha)
  const other = logOf(ENTRIES.with(0, entryOf('t1', 'TraceCreated', { externalId: 'other' })))
  const { proof } = shown(1)
  return [
    [2, 'a word of an entry', event(1, { entry: ENTRIES[1]!.replace('compute', 'computed') })],
    [2, 'white space in an entry', event(1, { entry: `${ENTRIES[1]!} ` })],
    [2, 'an entry in another stream', event(1, { entry: ENTRIES[1]!.replace('trace-t1', 'trace-t2') })],
    [2, 'an entry at another time', event(1, { entry: ENTRIES[1]!.replace(String(AT), String(AT + 1)) })],
    [2, 'an entry by another user', event(1, { entry: ENTRIES[1]!.replace('u1', 'u2') })],
    [2, 'the index of another event', event(6, { index: 7 })],
    [2, 'an index beyond the log', event(6, { index: 11 })],
    [2, 'an index far beyond the log', event(6, { index: Number.MAX_SAFE_INTEGER })],
    [2, 'a hash of a proof', event(1, { proof: proof.with(1, hash) })],
    [2, 'two hashes of a proof exchanged', event(1, { proof: proof.with(0, proof[1]!).with(1, proof[0]!) })],
    [2, 'a hash less', event(1, { proof: proof.slice(0, -1) })],
    [2, 'a hash more', event(1, { proof: [...proof, hash] })],
    [2, 'no proof', event(1, { proof: [] })],
    ['any', 'a hash that is null', event(1, { proof: proof.with(0, null as unknown as string) })],
    [2, 'a hash in other letters', event(1, { proof: proof.with(0, withLastLetter(proof[0]!)) })],
    [2, 'a hash without padding', event(1, { proof: proof.with(0, proof[0]!.slice(0, -1)) })],
    [2, 'a hash with a line feed', event(1, { proof: proof.with(0, `${proof[0]!}\n`) })],
    [2, 'a hash for addresses', event(1, { proof: proof.with(0, Buffer.alloc(32, 255).toString('base64url')) })],
    [2, 'a hash of 31 bytes', event(1, { proof: proof.with(0, Buffer.alloc(31).toString('base64')) })],
    [2, 'a leaf of another event', edit(({ events }) => void (events[1] = { ...withheld(2), index: 1, proof }))],
    [2, 'a leaf that is no hash', edit(({ events }) => void (events[1] = { index: 1, proof, leaf: 'leaf' }))],
    [
      2,
      'the hash of a node as leaf',
      edit(
        ({ events }) =>
          void events.splice(
            0,
            2,
            { index: 0, proof: shown(0).proof.slice(1), leaf: shown(2).proof[1]! },
            { index: 1, proof: shown(2).proof.slice(2), leaf: hash },
          ),
      ),
    ],
    [2, 'an event of another tree', event(0, { ...other.shown(0) })],
    [2, 'a proof of another tree', event(1, { proof: other.shown(1).proof })],
    [
      2,
      'a whole log of another key',
      edit(
        ({ events }) =>
          void events.splice(0, 7, ...[0, 1, 2, 3, 4, 5, 6].map((i) => logOf(ENTRIES.with(10, ENTRIES[9]!)).shown(i))),
      ),
    ],
  ]
}

const inTheRest = ({ sha, tree, tag }: Repository): Forgery[] => {
  const { edit, log: ofLog, session: ofSession, range, commit } = newEdits(sha)
  const lines = { path: 'src/a.ts', start: 5, end: 5 }
  const older = (more: object) => ofLog({ previous: { ...previous(3), ...more } })
  const rootOf = (size: number) => Buffer.from(note(size).split('\n')[2]!, 'base64')
  return [
    [4, 'another session', ofSession(0, { externalId: 'other' })],
    [4, 'another trace', ofSession(0, { traceId: 't2' })],
    [4, 'a session that begins with a message', ofSession(0, { begins: 1 })],
    [4, 'a session that begins with another', ofSession(0, { begins: 2 })],
    [4, 'a session that begins nowhere', ofSession(0, { begins: 7 })],
    [
      5,
      'a line of a person',
      edit(({ commits: [first] }) => void ((first!.ranges[0]!.end = 5), (first!.unknown = []))),
    ],
    [
      5,
      'a line of a person in another session',
      edit(({ commits: [first] }) => void ((first!.ranges[1]!.start = 5), (first!.unknown = []))),
    ],
    [5, 'lines beyond the file', range(1, { end: 8 })],
    [5, 'very many lines', range(1, { end: Number.MAX_SAFE_INTEGER })],
    [5, 'a line of an empty file', range(2, { path: 'empty.txt', start: 1, end: 1 })],
    [5, 'a path that is not there', range(2, { path: 'src/b.ts' })],
    [5, 'a folder', range(2, { path: 'src' })],
    [5, 'a path in other letters', range(2, { path: 'ODD.txt' })],
    [5, 'a line in two ranges', range(1, { start: 4, end: 6 })],
    [5, 'a range twice', edit(({ commits: [first] }) => void first!.ranges.push(first!.ranges[0]!))],
    [5, 'a line that is known and unknown', edit(({ commits: [first] }) => void first!.unknown.push(lines))],
    [5, 'another session for a range', range(0, { session: 1 })],
    [5, 'a session that is not there', range(0, { session: 2 })],
    [5, 'events of another session', range(0, { events: [3] })],
    [5, 'an event of another session beside', range(0, { events: [1, 3, 4] })],
    [5, 'an event that is not there', range(0, { events: [1, 7] })],
    [5, 'an event without the lines', range(0, { events: [1] })],
    [5, 'a commit that is not there', commit({ sha: 'f'.repeat(40) })],
    [5, 'a path that clears a terminal', range(2, { path: '\u001b[2J\nthese 212 lines were in recorded calls' })],
    [5, 'a tree for a commit', commit({ sha: tree })],
    [5, 'a commit by a tag of hexadecimal digits', commit({ sha: TAG_LIKE_A_COMMIT })],
    [5, 'a tag for a commit', commit({ sha: tag })],
    [5, 'a commit twice', edit(({ commits }) => void commits.push({ sha, ranges: [], unknown: [] }))],
    [
      6,
      'an older checkpoint of an impostor',
      older({ checkpoint: signCheckpoint({ size: 3, root: rootOf(3) }, impostor) }),
    ],
    [6, 'an older checkpoint of another size', older({ checkpoint: previous(2).checkpoint })],
    [
      6,
      'an older checkpoint of another root',
      older({ checkpoint: signCheckpoint({ size: 3, root: rootOf(4) }, signer) }),
    ],
    [
      6,
      'an older checkpoint that was changed',
      older({ checkpoint: previous(3).checkpoint.replace('\n3\n', '\n4\n') }),
    ],
    [
      6,
      'an older checkpoint that is newer',
      older({ checkpoint: signCheckpoint({ size: 12, root: rootOf(11) }, signer), proof: [] }),
    ],
    [
      6,
      'an older checkpoint of the same size and another root',
      older({ checkpoint: signCheckpoint({ size: 11, root: rootOf(3) }, signer), proof: [] }),
    ],
    [
      6,
      'an older checkpoint of nothing',
      older({ checkpoint: signCheckpoint({ size: 0, root: rootOf(0) }, signer), proof: [] }),
    ],
    [6, 'a hash of the proof of the older checkpoint', older({ proof: previous(3).proof.with(0, hash) })],
    [6, 'a hash less of the proof of the older checkpoint', older({ proof: previous(3).proof.slice(1) })],
    [6, 'a hash more of the proof of the older checkpoint', older({ proof: [...previous(3).proof, hash] })],
    [6, 'no proof of the older checkpoint', older({ proof: [] })],
    [7, 'another deleted trace', edit(({ deletions }) => void (deletions[0]!.traceId = 't1'))],
    [7, 'another event for a deletion', edit(({ deletions }) => void (deletions[0]!.event = 6))],
    [7, 'a deletion that is not there', edit(({ deletions }) => void (deletions[0]!.event = 7))],
  ]
}

/** Files that say what their log does not, and files that readers might read in different ways: what is forged is in the file alone. */
export const forgeries = (repository: Repository): Forgery[] => [
  ...ofTheLog(),
  ...inTheForm(repository),
  ...inTheCheckpoint(repository),
  ...inTheEvents(repository),
]

/** Files that say what their log or the repository does not. */
export const forgeriesOfLines = (repository: Repository): Forgery[] => inTheRest(repository)
