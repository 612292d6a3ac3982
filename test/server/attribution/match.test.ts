import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Hunk } from '../../../src/contract/attribution.ts'
import { type WrittenFile, writersOf } from '../../../src/server/attribution/calls.ts'
import { type Known, matchHunk } from '../../../src/server/attribution/match.ts'

const test = suite('attribution: match')

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.UTC(2026, 0, 31)

let made = 0
const file = (traceId: string, written: string[], more: Partial<WrittenFile> = {}): WrittenFile => {
  made += 1
  return {
    ...{
      traceId,
      ordinal: made,
      nth: 0,
      file: 0,
      at: NOW - HOUR,
      arrivedAt: NOW,
      identity: BigInt(made),
      isWhole: false,
    },
    ...{ path: '/home/repo/a.ts', projectPath: '/home/repo', repository: undefined, written: new Set(written) },
    ...more,
  }
}

type Replaced = ReadonlyMap<WrittenFile, ReadonlySet<string>>

const noTurn = async () => {}

const knownOf = async (
  files: readonly WrittenFile[],
  without: string[] = [],
  replaced: Replaced = new Map(),
): Promise<Known> => {
  const writers = await writersOf(files, new Set(without), noTurn)
  return {
    writers,
    sessions: (line) => new Set(writers.get(line)?.map(({ traceId }) => traceId)).size,
    replaced: (one) => replaced.get(one) ?? new Set(),
    repositories: new Set(['repo']),
    now: NOW,
  }
}

const hunkOf = (added: string[], more: Partial<Hunk> = {}): Hunk => ({ path: 'a.ts', at: NOW, added, ...more })

const match = async (hunk: Hunk, known: Known | Promise<Known>, turn = noTurn) => matchHunk(hunk, await known, turn)

const seen = async (hunk: Hunk, known: Promise<Known>) =>
  (await match(hunk, known)).ranges.map(({ start, end, evidence, file: { traceId } }) => [
    start,
    end,
    evidence,
    traceId,
  ])

test('of copies of a call only the first counts, and none if it is of a session that is left out', async () => {
  const copies = [
    file('a', ['x'], { identity: 1n, arrivedAt: 2 }),
    file('b', ['x'], { identity: 1n, arrivedAt: 1 }),
    file('c', ['x'], { identity: 1n, arrivedAt: 3 }),
  ]
  assert.equal(await seen(hunkOf(['x']), knownOf(copies)), [[1, 1, 'run', 'b']])
  assert.equal(await seen(hunkOf(['x']), knownOf(copies, ['b'])), [])
  assert.equal(await seen(hunkOf(['x']), knownOf(copies, ['a'])), [[1, 1, 'run', 'b']])
})

test('a file that is written whole takes no line that an earlier call had written into it', async () => {
  const earlier = file('a', ['x'], { at: NOW - 2 * HOUR })
  const whole = file('b', ['x', 'y'], { isWhole: true })
  assert.equal(await seen(hunkOf(['x', 'y']), knownOf([whole, earlier])), [
    [1, 1, 'run', 'a'],
    [2, 2, 'run', 'b'],
  ])
  assert.equal(await seen(hunkOf(['x', 'y']), knownOf([whole, earlier], ['a'])), [[1, 2, 'run', 'b']])
  const elsewhere = file('c', ['y'], {
    at: NOW - 2 * HOUR,
    path: '/home/other/a.ts',
    projectPath: '/home',
    repository: 'o',
  })
  assert.equal(await seen(hunkOf(['y']), knownOf([whole, elsewhere])), [])
})

test('a file that is written whole may be that of a trace without a repository, but not that of another repository', async () => {
  const written = (traceId: string, repository: string | undefined, more: Partial<WrittenFile> = {}) =>
    file(traceId, ['x'], { path: `/home/${traceId}/a.ts`, projectPath: `/home/${traceId}`, repository, ...more })
  const whole = (repository: string | undefined) => written('whole', repository, { isWhole: true })
  const earlier = (repository: string | undefined) => written('earlier', repository, { at: NOW - 2 * HOUR })
  const writers = async (...files: WrittenFile[]) =>
    (await knownOf(files)).writers.get('x')!.map(({ traceId }) => traceId)
  assert.equal(await writers(whole('a'), earlier('b')), ['earlier', 'whole'])
  assert.equal(await writers(whole('a'), earlier('a')), ['earlier'])
  assert.equal(await writers(whole(undefined), earlier('a')), ['earlier'])
  assert.equal(await writers(whole('a'), earlier(undefined)), ['earlier'])
})

test('of calls that wrote many lines in common each path is read a few times, not for each two of them and each line', async () => {
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i}`)
  let reads = 0
  const files = Array.from({ length: 40 }, (_, i) =>
    Object.defineProperty(file(`${i}`, lines, { isWhole: true }), 'path', {
      get: () => {
        reads += 1
        return `/home/repo/${i}.ts`
      },
    }),
  )
  assert.is((await match(hunkOf(lines), knownOf(files))).lines.unknown, lines.length)
  assert.ok(reads <= 10 * files.length, `${reads} reads`)
})

test('between two turns of the event loop little of a large hunk is compared', async () => {
  const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i}`)
  let [reads, before, most] = [0, 0, 0]
  const files = Array.from({ length: 80 }, (_, i) =>
    Object.defineProperty(file(`${i}`, lines), 'at', {
      get: () => {
        reads += 1
        return NOW - HOUR + i
      },
    }),
  )
  const known = { ...(await knownOf(files)), sessions: () => 1 }
  before = reads
  const { lines: found } = await match(hunkOf(lines), known, async () => {
    most = Math.max(most, reads - before)
    before = reads
  })
  assert.is(found.run, lines.length)
  assert.ok(most <= 2 * lines.length, `${most} times of calls are compared at once`)
})

test('a later call of the commit stands behind an earlier one, however long its stretch', async () => {
  const added = ['x', 'y', 'z', 'u', 'v', 'w']
  const files = [file('a', ['x', 'y']), file('b', added, { at: NOW + HOUR })]
  const hunk = hunkOf(added, { until: NOW + 2 * HOUR })
  assert.equal(await seen(hunk, knownOf(files, ['a'])), [[1, 6, 'run', 'b']])
  assert.equal(await seen(hunk, knownOf(files)), [
    [1, 2, 'run', 'a'],
    [3, 6, 'run', 'b'],
  ])
})

// ---- against a slow computation that looks at each line by itself

const HASHES = ['a', 'b', 'c', 'd', 'e', '']
const TRACES = ['t1', 't2', 't3']
const aFile = fc.record({
  traceId: fc.constantFrom(...TRACES),
  written: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 }),
  hours: fc.constantFrom(-800, -700, -60, -47, -30, -23, -1, 0, 1, 100, 200),
  isElsewhere: fc.boolean(),
  replaced: fc.uniqueArray(fc.constantFrom('p', 'q'), { maxLength: 1 }),
})
const aQuestion = fc.record({
  files: fc.array(aFile, { maxLength: 8 }),
  added: fc.array(fc.constantFrom(...HASHES), { minLength: 1, maxLength: 14 }),
  removed: fc.uniqueArray(fc.constantFrom('p', ''), { maxLength: 2 }),
  until: fc.constantFrom(0, 2, 150),
})

type Generated<A> = A extends fc.Arbitrary<infer One> ? One : never
type Question = Generated<typeof aQuestion>

const worldOf = ({ files, added, removed, until }: Question) => {
  const replaced = new Map<WrittenFile, Set<string>>()
  const all = files.map((one) => {
    const path = one.isElsewhere ? '/home/repo/b.ts' : '/home/repo/a.ts'
    const given = file(one.traceId, one.written, { at: NOW + one.hours * HOUR, path })
    replaced.set(given, new Set(one.replaced))
    return given
  })
  const hunk = hunkOf(added, { removed, until: NOW + until * HOUR, start: 5 })
  return { all, replaced, hunk, known: knownOf(all, [], replaced) }
}

type Judged = { evidence: string; file: WrittenFile } | undefined

/** What the contract says of one line: every kind of stretch around it, the best of which wins. */
const judge = (index: number, { all, replaced, hunk }: ReturnType<typeof worldOf>): Judged => {
  const strong = hunk.added.flatMap((hash, i) => (hash === '' ? [] : [i]))
  const weights = [0, 12, 6, 4, 3, 0, 0]
  const weigh = (i: number) =>
    weights[new Set(all.filter((one) => one.written.has(hunk.added[i]!)).map(({ traceId }) => traceId)).size]!
  const ages: [string, boolean, number, number][] = [
    ['replaced', false, 30 * DAY, 0],
    ['replaced', true, 0, 0],
    ['run', false, DAY, 12],
    ['run', false, 2 * DAY, 48],
    ['run', false, 30 * DAY, 240],
    ['run', true, 0, 48],
    ['moved', false, 2 * DAY, 60],
  ]
  const found: { rank: number[]; evidence: string; file: WrittenFile }[] = []
  for (const [evidence, isLate, age, least] of ages)
    for (const trace of TRACES) {
      const usable = (i: number) =>
        all.filter((one) => {
          const after = one.at - NOW
          const isInTime = isLate
            ? after > 60_000 && after <= 7 * DAY && one.at <= hunk.until! + 60_000
            : after <= 60_000 && -after <= age
          const isHere = one.path.endsWith('a.ts')
          return (
            one.traceId === trace && one.written.has(hunk.added[i]!) && isInTime && isHere === (evidence !== 'moved')
          )
        })
      const at = strong.indexOf(index)
      let [from, to] = [at, at]
      if (usable(index).length === 0) continue
      while (from > 0 && usable(strong[from - 1]!).length > 0) from -= 1
      while (to < strong.length - 1 && usable(strong[to + 1]!).length > 0) to += 1
      const stretch = strong.slice(from, to + 1)
      const replaces = stretch.some((i) =>
        usable(i).some((one) => hunk.removed!.some((h) => h !== '' && replaced.get(one)!.has(h))),
      )
      const isProven = evidence === 'replaced' ? replaces : stretch.reduce((sum, i) => sum + weigh(i), 0) >= least
      if (!isProven) continue
      for (const one of usable(index)) {
        const kind = ['moved', 'run', 'replaced'].indexOf(evidence)
        found.push({ rank: [kind, isLate ? 0 : 1, stretch.length, one.at, one.ordinal], evidence, file: one })
      }
    }
  const compare = (a: number[], b: number[]) => a.map((n, i) => n - b[i]!).find((n) => n !== 0) ?? 0
  return found.sort((a, b) => compare(b.rank, a.rank))[0]
}

/** Of calls at the same time the later position wins: in these tests the traces of one time are those of one order. */
const onlyOneTime = ({ files }: Question) => new Set(files.map(({ hours }) => hours)).size === files.length

test('each line has the answer of a slow computation, and ranges tile the hunk', async () => {
  await fc.assert(
    fc.asyncProperty(aQuestion.filter(onlyOneTime), async (question) => {
      const world = worldOf(question)
      const { ranges, unknown, lines } = await match(world.hunk, world.known)
      const { added, start = 1 } = world.hunk
      const expected = added.map((hash, i) => (hash === '' ? undefined : judge(i, world)))
      for (const [i, hash] of added.entries()) {
        if (hash === '') continue
        const range = ranges.find((one) => one.start <= start + i && start + i <= one.end)
        assert.is(range?.evidence, expected[i]?.evidence, `line ${i}`)
        assert.ok(range?.file === expected[i]?.file, `line ${i} is of another call`)
      }
      const tiles = [...ranges.map((one) => [one.start, one.end] as const), ...unknown].sort(([a], [b]) => a - b)
      let next = start
      for (const [from, to] of tiles) {
        assert.is(from, next)
        assert.ok(to >= from)
        next = to + 1
      }
      assert.is(next, start + added.length)
      for (const range of ranges) for (const end of [range.start, range.end]) assert.is.not(added[end - start], '')
      const { total, ...others } = lines
      assert.is(
        total,
        Object.values(others).reduce((a, b) => a + b, 0),
      )
      for (const evidence of ['replaced', 'run', 'moved'] as const)
        assert.is(lines[evidence], expected.filter((one) => one?.evidence === evidence).length)
    }),
    { numRuns: 400 },
  )
})

test('the order of what is known does not matter, and a hunk may be split where no stretch is cut', async () => {
  await fc.assert(
    fc.asyncProperty(aQuestion, fc.infiniteStream(fc.nat()), async (question, numbers) => {
      const { all, replaced, hunk, known } = worldOf(question)
      const answer = await match(hunk, known)
      const shuffled = all.map((one) => [numbers.next().value as number, one] as const).sort(([a], [b]) => a - b)
      assert.equal(
        await match(
          hunk,
          knownOf(
            shuffled.map(([, one]) => one),
            [],
            replaced,
          ),
        ),
        answer,
      )
      const nobody = hunk.added.findIndex((hash) => hash !== '' && all.every((one) => !one.written.has(hash)))
      if (nobody < 1) return
      const parts = [
        await match({ ...hunk, added: hunk.added.slice(0, nobody) }, known),
        await match({ ...hunk, added: hunk.added.slice(nobody), start: hunk.start! + nobody }, known),
      ]
      assert.equal(
        parts.flatMap(({ ranges }) => ranges),
        answer.ranges,
      )
    }),
    { numRuns: 200 },
  )
})

test('what is left out never answers', async () => {
  await fc.assert(
    fc.asyncProperty(aQuestion, fc.constantFrom(...TRACES), async (question, trace) => {
      const { all, replaced, hunk } = worldOf(question)
      const left = await match(hunk, knownOf(all, [trace], replaced))
      assert.not(left.ranges.some((range) => range.file.traceId === trace))
      const others = all.filter((one) => one.traceId !== trace)
      assert.equal(left, await match(hunk, knownOf(others, [], replaced)))
    }),
    { numRuns: 200 },
  )
})

test.run()
