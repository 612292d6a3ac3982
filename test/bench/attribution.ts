import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Named, type Setting, atMost } from './measure.ts'
import { allCaughtUp } from './timeline-lag.ts'

/** Makes a repository and sessions whose writers are known, uploads these, and judges the answers of a service. It is no part of this repository. */
const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'shared', 'acceptance', 'attribution-accuracy.mjs')

/** A share in percent beside what it may come to; beside 1 where that is nothing. */
const atMostPercent = (name: string, value: number, most: number): Named => ({
  ...atMost(name, '%', value, most),
  yardstick: most || 1,
})

/** What is printed of a run: shares from 0 to 1. */
type Shares = Readonly<Record<string, number | undefined>>

/** Runs the program. It exits with 1 also where a share misses its bar, which the row of that says. */
const run = (words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 1 << 28 }
    execFile(process.execPath, [PROGRAM, ...words], options, (error, stdout, stderr) => {
      if (error && !stdout.trimStart().startsWith('{')) reject(new Error(stderr || error.message))
      else resolve(stdout)
    })
  })

const percent = (share: number | undefined): number => 100 * (share ?? 0)

/** Of what is to be large, what is missing. */
const missing = (share: number | undefined): number => 100 * (1 - (share ?? 0))

const figures = (name: string, shares: Shares, mostTyped: number): Named[] => [
  atMostPercent(`${name}: not counted`, missing(shares['counted']), 40),
  atMostPercent(`${name}: wrong session`, missing(shares['agree']), 4),
  atMostPercent(`${name}: withheld`, percent(shares['withheld']), 2),
  atMostPercent(`${name}: ~ replaced`, percent(shares['withheld, replaced']), 1),
  atMostPercent(`${name}: typed`, percent(shares['typed']), mostTyped),
  atMostPercent(`${name}: controls`, percent(shares['controls']), 0),
  atMostPercent(`${name}: lost since`, missing(shares['today, of what was counted']), 2),
]

/** A person's lines where agents write no file whole, where they read it before, and where they do not. Each has sessions of other ids. */
const KINDS = [
  { name: 'attribution', flags: ['--seed=1', '--whole=0'], mostTyped: 0 },
  { name: 'attribution whole', flags: ['--seed=2'], mostTyped: 1 },
  { name: 'attribution unread', flags: ['--seed=3', '--no-reads'], mostTyped: 3 },
]

/**
 * How often attribution is right in a generated repository with two agents and a person: rebases, squashes, amends, cherry-picks, renames and a
 * formatter. Lines that are not found, lines given to a wrong session, and lines that other sessions get once their own is left out.
 */
export const attribution = async ({ world }: Setting): Promise<readonly Named[]> => {
  if (!existsSync(PROGRAM)) {
    console.error(`SKIP attribution: there is no ${PROGRAM}`)
    return []
  }
  const rows: Named[] = []
  for (const { name, flags, mostTyped } of KINDS) {
    const folder = await mkdtemp(join(tmpdir(), 'tracebook-attribution-'))
    try {
      const { authorization } = await world.signIn(`device-of-${name}`.replaceAll(' ', '-').padEnd(32, '0'))
      const env = { BASE_URL: world.url, TOKEN: authorization.replace('Bearer ', '') }
      await run(['generate', folder, ...flags], env)
      await run(['upload', folder], env)
      await allCaughtUp(world)
      rows.push(...figures(name, JSON.parse(await run(['measure', folder, '--json'], env)) as Shares, mostTyped))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return rows
}
