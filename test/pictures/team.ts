import { text } from '../browser/support/seed.ts'
import * as clockChange from './clock-change.ts'
import { type Said, answer, edit, prompt, read, shell } from './session.ts'

/** A team that is made up, and its sessions. */

export const TEAM = { slug: 'harbour', displayName: 'Harbour', description: 'Ferries, boards and timetables.' }

export const people = { mira: 'Mira', noor: 'Noor', teo: 'Teo', ines: 'Ines' } as const
export type Name = keyof typeof people

/** When the pictures are taken: while the newest session is running. */
export const NOW = Date.UTC(2026, 9, 27, 13, 58)

const at = (day: number, hour: number, minute: number) => Date.UTC(2026, 9, day, hour, minute)

/** A session; `said` begins at `began`, in milliseconds since 1970. */
export type MadeUp = {
  readonly by: Name
  readonly began: number
  readonly said: readonly Said[]
  readonly model: string
  /** Of its trace. */
  readonly fields: { readonly title: string; readonly agentId: string; readonly [name: string]: unknown }
  readonly subAgents?: readonly MadeUp[]
}

const models = {
  'claude-code': 'claude-opus-4-6',
  codex: 'gpt-5.2',
  cursor: 'claude-sonnet-4-6',
  'gemini-cli': 'gemini-3.1-pro-preview',
  opencode: 'claude-sonnet-4-6',
} as const
type AgentId = keyof typeof models

const fieldsOf = (title: string, agentId: AgentId, gitBranch: string) => ({
  title,
  agentId,
  model: models[agentId],
  projectName: 'ferries',
  projectPath: clockChange.FOLDER,
  gitBranch,
})

const manyLines = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `${word} ${i + 1}`).join('\n')

type Lines = readonly [added: number, removed: number]

/** What an agent did for a prompt, a letter for each call: `r` reads, `e` changes a file, `t` runs tests that pass, `f` tests that fail. */
const work = (calls: string, [added, removed]: Lines): Said[] =>
  [...calls].map((call, i) => {
    const file = `${clockChange.FOLDER}/src/file-${i}.ts`
    if (call === 'r') return answer(9, ...read(file, manyLines(40, 'line')))
    if (call === 'e')
      return answer(21, ...edit(file, manyLines(removed + i, 'before'), manyLines(added + 3 * i, 'after')))
    if (call === 't') return answer(14, ...shell('npm test', 'passed'))
    return answer(14, ...shell('npm test', 'Exit code 1', 'error'))
  })

type Outline = {
  readonly by: Name
  readonly agent: AgentId
  readonly began: number
  readonly title: string
  readonly branch: string
  /** For each prompt what the agent did. */
  readonly turns: readonly string[]
  /** What a change adds and removes, about. */
  readonly lines?: Lines
  /** Seconds until the next prompt. */
  readonly pause?: number
  /** The titles of its sub-agents. */
  readonly subAgents?: readonly string[]
  readonly isPublic?: boolean
}

const madeUp = (outline: Outline): MadeUp => {
  const { by, agent, began, title, branch, turns, lines = [12, 4], pause = 80, subAgents = [], isPublic } = outline
  return {
    by,
    began,
    model: models[agent],
    said: turns.flatMap((calls, i) => [
      prompt(i === 0 ? 0 : pause, i === 0 ? title : 'Please go on.'),
      ...work(calls, lines),
      answer(12, text('Done.')),
    ]),
    fields: { ...fieldsOf(title, agent, branch), visibility: isPublic ? 'public' : 'private' },
    subAgents: subAgents.map((its) => madeUp({ by, agent, began: began + 60_000, title: its, branch, turns: ['rrr'] })),
  }
}

const HAIKU = 'claude-haiku-4-5'

const clockChangeSession: MadeUp = {
  by: 'mira',
  began: at(27, 12, 20),
  model: models['claude-code'],
  said: clockChange.said,
  fields: fieldsOf('Morning ferries an hour early after the clocks went back', 'claude-code', 'dst'),
  subAgents: [
    {
      by: 'mira',
      began: at(27, 12, 20) + 16_000,
      model: HAIKU,
      said: clockChange.search,
      fields: {
        ...fieldsOf('Find where local times become moments', 'claude-code', 'dst'),
        model: HAIKU,
        parentCallId: clockChange.SEARCH,
      },
    },
  ],
}

/** From the newest to the oldest; the second is the one whose page is in a picture. */
export const sessions: readonly MadeUp[] = [
  madeUp({
    by: 'noor',
    agent: 'codex',
    began: at(27, 13, 52),
    title: 'Tell passengers when a ferry is cancelled',
    branch: 'cancelled',
    turns: ['rrrree', 'rfe', 'rret'],
    lines: [16, 1],
  }),
  clockChangeSession,
  madeUp({
    by: 'teo',
    agent: 'gemini-cli',
    began: at(27, 8, 41),
    title: 'Why does the map flicker on old phones?',
    branch: 'main',
    turns: ['rrrrrr', 'rrr', 'rr'],
    isPublic: true,
  }),
  madeUp({
    by: 'mira',
    agent: 'claude-code',
    began: at(26, 14, 2),
    title: 'Read timetables from the new API of the harbour',
    branch: 'api',
    turns: ['rrrrrreef', 'rreeet', 'rrefeft', 'rreet', 'ret', 'rrt'],
    lines: [38, 11],
    pause: 540,
    subAgents: ['Compare both APIs', 'Find all readers of the old file', 'Review the changes', 'Write the fixtures'],
  }),
  madeUp({
    by: 'ines',
    agent: 'opencode',
    began: at(26, 9, 15),
    title: 'Paint the board before the weather has come',
    branch: 'first-paint',
    turns: ['rrrret', 'rrfet'],
    lines: [12, 15],
  }),
  madeUp({
    by: 'teo',
    agent: 'cursor',
    began: at(23, 15, 30),
    title: 'Say “berth” everywhere, not “quay”',
    branch: 'berth',
    turns: ['rreeeeet'],
    lines: [3, 3],
  }),
  madeUp({
    by: 'noor',
    agent: 'codex',
    began: at(23, 9, 5),
    title: 'A board that can be read from twenty metres',
    branch: 'contrast',
    turns: ['rre', 're', 'ref', 'ret', 'rt'],
    lines: [9, 7],
    pause: 200,
  }),
]
