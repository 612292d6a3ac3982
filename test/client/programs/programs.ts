import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { NotStored } from './compare.ts'

/** The programs of agents that npm has and whose licences let everybody run them: how each is installed, set up and asked. */

const execute = promisify(execFile)

export type Program = {
  /** Of the agent in `src/client/agents`. */
  readonly agent: string
  readonly package: string
  readonly command: string
  /** What stands in its home folder before the first run. */
  readonly files: (provider: string) => Readonly<Record<string, string>>
  readonly env: (provider: string) => Readonly<Record<string, string>>
  /** The words by which it is asked; `goesOn`: in its last session, or in that with this id, which only Codex is asked for. */
  readonly words: (prompt: string, goesOn: boolean | string) => readonly string[]
  /** Scenes that it has no means for. */
  readonly without?: readonly string[]
  readonly notStored?: readonly NotStored[]
}

const MODEL = 'scripted-model'

const json = (value: unknown): string => JSON.stringify(value, null, 2)

export const programs: readonly Program[] = [
  {
    agent: 'codex',
    package: '@openai/codex',
    command: 'codex',
    files: (provider) => ({
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        'model_provider = "scripted"',
        '[features]',
        'multi_agent_v2 = true',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${provider}/v1"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    env: () => ({}),
    words: (prompt, goesOn) => [
      'exec',
      ...(goesOn === false ? [] : ['resume', goesOn === true ? '--last' : goesOn]),
      '--json',
      '--dangerously-bypass-approvals-and-sandbox',
      prompt,
    ],
    notStored: ['delegated'],
  },
  {
    agent: 'opencode',
    package: 'opencode-ai',
    command: 'opencode',
    files: (provider) => ({
      '.config/opencode/opencode.json': json({
        model: `scripted/${MODEL}`,
        small_model: `scripted/${MODEL}`,
        autoupdate: false,
        share: 'disabled',
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Scripted',
            options: { baseURL: `${provider}/v1`, apiKey: 'none' },
            models: { [MODEL]: { name: 'Scripted', reasoning: true, limit: { context: 200_000, output: 8_000 } } },
          },
        },
      }),
    }),
    env: () => ({}),
    words: (prompt, goesOn) => ['run', ...(goesOn ? ['--continue'] : []), prompt],
  },
  {
    agent: 'gemini-cli',
    package: '@google/gemini-cli',
    command: 'gemini',
    files: () => ({
      '.gemini/settings.json': json({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    env: (provider) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: provider }),
    words: (prompt, goesOn) => [
      ...['--skip-trust', '--yolo', '--model', 'gemini-2.5-pro'],
      ...(goesOn ? ['--resume', 'latest'] : []),
      ...['--prompt', prompt],
    ],
    notStored: ['errors'],
  },
  {
    agent: 'pi',
    package: '@mariozechner/pi-coding-agent',
    command: 'pi',
    files: (provider) => ({
      '.pi/agent/models.json': json({
        providers: {
          scripted: {
            baseUrl: `${provider}/v1`,
            api: 'openai-completions',
            apiKey: 'none',
            models: [
              {
                id: MODEL,
                name: 'Scripted',
                reasoning: true,
                input: ['text'],
                contextWindow: 200_000,
                maxTokens: 8_000,
                cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1 },
              },
            ],
          },
        },
      }),
    }),
    env: () => ({}),
    words: (prompt, goesOn) => [
      ...['--print', '--provider', 'scripted', '--model', MODEL],
      ...(goesOn ? ['--continue'] : []),
      prompt,
    ],
    without: ['delegate'],
    notStored: ['reasoningTokens'],
  },
  {
    agent: 'qwen-code',
    package: '@qwen-code/qwen-code',
    command: 'qwen',
    files: () => ({}),
    env: (provider) => ({
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${provider}/v1`,
      OPENAI_MODEL: 'qwen3-coder-plus',
      QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
    }),
    words: (prompt, goesOn) => ['--yolo', '--auth-type', 'openai', ...(goesOn ? ['--continue'] : []), prompt],
  },
]

const CACHE = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'agents')

/** Installs the newest version, and returns it with the path of the program. Rejects with what npm says if that cannot be done. */
export const install = async ({ package: name, command }: Program) => {
  const folder = join(CACHE, command)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), json({ private: true }))
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${name}@latest`]
  await execute('npm', words, { cwd: folder, timeout: 300_000 })
  const modules = join(folder, 'node_modules')
  const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { version: string }
  return { version, path: join(modules, '.bin', command) }
}

export type Installed = Awaited<ReturnType<typeof install>>

export const writeFiles = (folder: string, files: Readonly<Record<string, string>>) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

type Asked = {
  readonly home: string
  readonly project: string
  readonly provider: string
  readonly prompt: string
  readonly goesOn: boolean | string
}

/** Asks it once. Its exit code is no matter: what counts is what it has stored. Returns what it has written to both outputs. */
export const ask = async (
  program: Program,
  { path }: Installed,
  { home, project, provider, prompt, goesOn }: Asked,
) => {
  const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: home, ...program.env(provider) }
  const asked = execute(path, program.words(prompt, goesOn), { cwd: project, env, timeout: 120_000 })
  asked.child.stdin?.end()
  const { stdout, stderr } = await asked.catch((error: { stdout: string; stderr: string }) => error)
  return `${stdout}\n${stderr}`
}
