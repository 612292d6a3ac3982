import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/client/agents/index.ts'
import type { Message } from '../../../src/contract/message.ts'
import type { Machine } from '../support/machine.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { storedOf, tokenOf } from '../support/stored.ts'
import { differences } from './compare.ts'
import { type Installed, type Program, ask, install, programs, writeFiles } from './programs.ts'
import { startProvider } from './provider.ts'

/** The newest programs of the agents, each asked by a provider whose answers are known; what they store is uploaded and compared with these. */

const test = suite<{ service: RealService }>("the agents' programs of today")
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())

/** The prompts of a session, one after the other; after each of them what is stored is uploaded. */
const SITUATIONS: Readonly<Record<string, readonly string[]>> = {
  plain: ['Greet me. [[plain]]'],
  tools: ['Write some notes. [[tools]]'],
  parallel: ['Do two things at once. [[parallel]]'],
  fail: ['Run what fails. [[fail]]'],
  unicode: ['漢字と絵文字で 🎉 👨‍👩‍👧 [[unicode]]'],
  delegate: ['Let a helper count. [[delegate]]'],
  refused: ['Say what is refused. [[refused]]'],
  resume: ['Greet me. [[plain]]', 'Once more, please. [[again]]', 'Write some notes. [[tools]]'],
}

const TABLE = join(import.meta.dirname, '..', '..', '..', 'src', 'client', 'agents', 'tried.md')

type Row = { readonly agent: string; readonly version: string; readonly situation: string; readonly found: string }
const rows: Row[] = []

/** A repository with one file, on a branch of its own. */
const newProject = (folder: string) => {
  writeFiles(folder, { 'README.md': '# Scripted\n' })
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com', ...words], { cwd: folder })
  git('init', '--quiet', '--initial-branch', 'scripted')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Begin')
}

const tracesOf = async (service: RealService, machine: Machine): Promise<(readonly Message[])[]> => {
  const { data } = await service.call('GET', '/v1/traces?limit=100', { token: await tokenOf(machine) })
  const { traces } = data as { readonly traces: readonly { readonly externalId: string }[] }
  return Promise.all(traces.map(({ externalId }) => storedOf(machine, externalId)))
}

const tryOut = async (service: RealService, program: Program, installed: Installed, prompts: readonly string[]) => {
  const machine = await service.logIn()
  const project = join(machine.home, 'project')
  mkdirSync(project)
  newProject(project)
  const provider = await startProvider(project)
  try {
    writeFiles(machine.home, program.files(provider.url))
    const found: string[] = []
    const typed: string[] = []
    for (const prompt of prompts) {
      const asked = { home: machine.home, project, provider: provider.url, prompt, goesOn: typed.length > 0 }
      const said = await ask(program, installed, asked)
      typed.push(prompt)
      await machine.sync({ agents })
      const delegated = provider.answers.flatMap(({ calls }) =>
        calls.flatMap(({ action }) => (action.kind === 'delegate' ? [action.prompt] : [])),
      )
      const told = { typed, delegated, answers: provider.answers, refused: provider.refused() }
      const traces = await tracesOf(service, machine)
      if (traces.length === 0) found.push(`nothing is stored, and the program said: ${said.trim().slice(-300)}`)
      found.push(...differences(told, traces, program.notStored ?? []))
    }
    const before = service.writes().length
    await machine.sync({ agents })
    const sent = service.writes().slice(before)
    if (sent.length > 0) found.push(`a second run sends ${sent.join(', ')}`)
    return [...new Set(found)]
  } finally {
    await provider.close()
  }
}

for (const program of programs) {
  const installed = await install(program).catch((error: Error) => error)
  if (installed instanceof Error) {
    test.skip(`${program.package} could not be installed: ${installed.message.slice(0, 200)}`)
    continue
  }
  const { version } = installed
  console.log(`${program.package} ${version}`)
  for (const [situation, prompts] of Object.entries(SITUATIONS)) {
    if (program.without?.includes(situation)) continue
    test(`${program.agent} ${version}, ${situation}: the messages are those of the provider`, async ({ service }) => {
      const found = await tryOut(service, program, installed, prompts)
      rows.push({ agent: program.agent, version, situation, found: found.join('; ') || 'none' })
      assert.equal(found, [])
    })
  }
}

const HEAD = `# Tried

What the newest programs store, uploaded after each prompt, beside what their provider has told them: written by \`npm run test:agents\`. The
scenes are in \`test/client/programs/\`. What a program does not store is not looked for: pi the tokens of thinking, Gemini CLI an error of its
provider, Codex the prompt of a helper other than encrypted (the call that begins it has the text).
`

test.after(() => {
  if (rows.length === 0 || process.env['TEST_NAME']) return
  const date = new Date().toISOString().slice(0, 10)
  const lines = rows.map(
    ({ agent, version, situation, found }) => `| ${agent} | ${version} | ${situation} | ${found} |`,
  )
  const table = [`Versions of ${date}:`, '', '| Agent | Version | Scene | Differences |', '|---|---|---|---|', ...lines]
  writeFileSync(TABLE, `${HEAD}\n${table.join('\n')}\n`)
})

test.run()
