import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The counts that `expected.json` gives for one session file; those of other agents than Claude Code lack some. */
export type Expected = {
  readonly unparsedLines: number
  readonly messages: number
  readonly messagesByRole: Readonly<Record<string, number>>
  readonly toolResultOnlyMessages: number
  readonly parts: Readonly<Record<string, number>>
  readonly partsTotal: number
  readonly toolResultsWithErrorStatus: number
  readonly toolsTop5: readonly (readonly [string, number])[]
  readonly firstUserPrompt60: string
  readonly models: Readonly<Record<string, number>>
  readonly firstTimestamp: string
  readonly lastTimestamp: string
  readonly externalIds: { readonly first: string; readonly last: string; readonly distinct: number }
  readonly sessionId: string
  readonly gitBranch: string | null
  readonly cwdsInOrder: readonly string[]
  readonly gitBranchesInOrder: readonly string[]
}

const shared = join(dirname(import.meta.dirname), '..', '..', '..', 'shared')
const folder = join(shared, 'data')

/** The folder of recorded sessions beside the repository; undefined, said on stdout, where it is absent. */
export const sharedData = (): string | undefined => {
  if (existsSync(join(folder, 'expected.json'))) return folder
  process.stdout.write(`skipped: no recorded sessions in ${folder}\n`)
  return undefined
}

/** The folder with sessions that the real programs wrote, beside the repository; undefined, said on stdout, where it is absent. */
export const sessionsOfPrograms = (): string | undefined => {
  const programs = join(shared, 'agents-today')
  if (existsSync(programs)) return programs
  process.stdout.write(`skipped: no sessions of the real programs in ${programs}\n`)
  return undefined
}

/** The folder with situations that people report, beside the repository; undefined, said on stdout, where it is absent. */
export const sessionsOfTheField = (): string | undefined => {
  const field = join(shared, 'field')
  if (existsSync(field)) return field
  process.stdout.write(`skipped: no situations of the field in ${field}\n`)
  return undefined
}

/** The files of one agent with expected counts, by their path in the folder; `agent` as the folder calls it, such as `claude`. */
export const expectedCounts = (data: string, agent: string): ReadonlyMap<string, Expected> => {
  const { claudeCode, agents } = JSON.parse(readFileSync(join(data, 'expected.json'), 'utf8')) as {
    readonly claudeCode: Record<string, Expected>
    readonly agents: Record<string, Expected>
  }
  const other = Object.entries(agents).filter(([path]) => path.startsWith(`agents/${agent}/`))
  return new Map([...(agent === 'claude' ? Object.entries(claudeCode) : []), ...other])
}
