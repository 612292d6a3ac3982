import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildGo } from '../../../support/go.ts'
import { runCommand } from '../../../support/run-command.ts'
import { bareNeed } from '../../support/user.ts'

/** What a verifier says of a file: that it holds, or which step fails, with its whole sentence. */
export type Verdict = { readonly step: string; readonly says: string }

export const HOLDS = 'holds'

const SOURCES = join(import.meta.dirname, '../../../../src/commands/audit')

const runs = (program: string, ...args: readonly string[]) => spawnSync(program, args).status === 0

/** Why the verifier in Python cannot be run here; undefined if it can. */
export const whyNoPython = (): string | undefined =>
  runs('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 8))') ? undefined : 'Python 3.8 is not installed'

/** Builds the verifier in Go in a folder. */
export const buildVerifier = (folder: string): string => buildGo(folder, join(SOURCES, 'verify-evidence.go'))

/** What somebody who checks files has beside them. */
export type Known = { readonly key?: string | undefined; readonly repo?: string | undefined }

const optionsOf = ({ key, repo }: Known) => [
  ...(key === undefined ? [] : ['--key', key]),
  ...(repo === undefined ? [] : ['--repo', repo]),
]

const run = promisify(execFile)

/** What a program prints, which ends with exit code 0, or with 3 where a file is refused. */
const outputOf = async (program: string, args: readonly string[]): Promise<{ code: number; stdout: string }> => {
  try {
    return { code: 0, ...(await run(program, args, { maxBuffer: 1 << 28 })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    if (code !== 3) throw new Error(`exit code ${code}: ${stderr}`, { cause: error })
    return { code, stdout }
  }
}

const verdictOf = (says: string): Verdict => {
  const [, step = HOLDS] = /^REFUSED, (format|step \d)/.exec(says) ?? []
  return { step, says }
}

const assertCode = (code: number, verdicts: readonly Verdict[]) => {
  const isRefused = verdicts.some(({ step }) => step !== HOLDS)
  if ((code === 3) !== isRefused) throw new Error(`exit code ${code}: ${verdicts.map(({ says }) => says).join('')}`)
}

/** The verdicts of the verifier in Go, which takes one file. */
export const verdictsOfGo = async (program: string, paths: readonly string[], known: Known): Promise<Verdict[]> => {
  const verdicts: Verdict[] = []
  for (const path of paths) {
    const { code, stdout } = await outputOf(program, [...optionsOf(known), path])
    verdicts.push(verdictOf(stdout))
    assertCode(code, verdicts.slice(-1))
  }
  return verdicts
}

/** Whether the programs refuse to check anything with these options. */
export const areRefused = (go: string, args: readonly string[]): { go: boolean; python: boolean } => {
  const ofGo = spawnSync(go, args, { encoding: 'utf8' })
  const ofPython = spawnSync('python3', [join(SOURCES, 'verify-evidence.py'), ...args])
  return { go: ofGo.status === 3 && ofGo.stdout.startsWith('REFUSED, format'), python: ofPython.status === 2 }
}

/** The verdicts of the verifier in Python, which takes several files and says which one it means. */
export const verdictsOfPython = async (paths: readonly string[], known: Known): Promise<Verdict[]> => {
  const { code, stdout } = await outputOf('python3', [
    join(SOURCES, 'verify-evidence.py'),
    ...optionsOf(known),
    ...paths,
  ])
  const starts = paths.map((path) => stdout.indexOf(`${path}: `))
  if (starts.includes(-1)) throw new Error(`it does not name all files: ${stdout}`)
  const verdicts = paths.map((path, i) => verdictOf(stdout.slice(starts[i]! + path.length + 2, starts[i + 1])))
  assertCode(code, verdicts)
  return verdicts
}

type Said = {
  readonly type: string
  readonly step?: string | number
  readonly reason?: string
  readonly lines?: object
}

/** The verdict of the product. What it does not know as an evidence file, it may take for a bundle. */
export const ownVerdict = async (path: string, known: Known): Promise<Verdict> => {
  const words = ['audit', 'verify', '--offline', path, ...optionsOf(known), '--json']
  const { how, out, err } = await runCommand(words, bareNeed())
  if (how !== 0 && how !== 3) throw new Error(`exit code ${how}: ${err}`)
  const { step = 'format', reason, lines } = JSON.parse(out) as Said
  if (how === 0) return { step: HOLDS, says: JSON.stringify(lines) }
  return { step: step === 'format' ? step : `step ${step}`, says: reason! }
}

/** The verdicts of the product, one file after the other. */
export const ownVerdicts = async (paths: readonly string[], known: Known): Promise<Verdict[]> => {
  const verdicts: Verdict[] = []
  for (const path of paths) verdicts.push(await ownVerdict(path, known))
  return verdicts
}
