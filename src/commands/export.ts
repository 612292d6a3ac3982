import { extname } from 'node:path'
import { once } from 'node:events'
import { Command, Option } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { escapeControlsInLines } from '../cli/escape.ts'
import { UsageError, exitCodes, exitOnUsage, runCommand } from '../cli/exit.ts'
import { hasStatus } from '../sync/api/errors.ts'
import { realTiming, withNotice } from '../sync/api/retry.ts'
import { configDir, serverAddress } from '../sync/config.ts'
import { readCredentials } from '../sync/login/credentials.ts'
import { download } from '../sync/transfer/download.ts'
import { writeWhole } from '../sync/transfer/output-file.ts'

const formats = ['md', 'html', 'json'] as const
type Format = (typeof formats)[number]

type Options = {
  readonly server?: string
  readonly namespace?: string
  readonly format?: Format
  readonly output?: string
  readonly revision?: string
  readonly at?: string
}

const help = `
Writes one session as a file: Markdown or a page of HTML to read, JSON to be imported again.
Public sessions need no login.

  tracebook export 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --output session.html
  tracebook export 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --format json > session.json
  tracebook export 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --at 2026-01-31T12:00:00Z

A file is there only when all of it is; only its owner can read it.

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own

Exit codes:
  0  the whole session was written
  1  the server refused, or the transfer broke off
  2  wrong usage, or not logged in`

/** The format that is asked for, else that of the file's name, else Markdown. */
const formatOf = ({ format, output }: Options): Format => {
  const ending = output === undefined ? '' : extname(output).slice(1).toLowerCase()
  return format ?? formats.find((one) => one === (ending === 'htm' ? 'html' : ending)) ?? 'md'
}

/** What a terminal would obey is escaped, as in all that the commands print; a pipe gets every byte. */
const print = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  const { stdout } = process
  const decoder = new TextDecoder()
  for await (const piece of pieces) {
    const shown = stdout.isTTY ? escapeControlsInLines(decoder.decode(piece, { stream: true })) : piece
    if (!stdout.write(shown)) await once(stdout, 'drain')
  }
}

const exportTrace = async (externalId: string, options: Options): Promise<number> => {
  const server = serverAddress(options.server, process.env)
  const token = (await readCredentials(configDir(process.env), server))?.login?.token
  const query = new URLSearchParams({ format: formatOf(options) })
  for (const name of ['namespace', 'revision', 'at'] as const) {
    const value = options[name]
    if (value !== undefined) query.set(name, value)
  }
  const path = `/v1/traces/${encodeURIComponent(externalId)}/export?${query}`
  const timing = withNotice(realTiming, (text) => void process.stderr.write(text))
  const pieces = download({ server, path, token, timing })
  try {
    if (options.output === undefined) await print(pieces)
    else await writeWhole(options.output, pieces)
  } catch (error) {
    if (!hasStatus(error, 401)) throw error
    throw new UsageError(`The session is not public. Log in first: ${commandName} login --server ${server}`)
  }
  return exitCodes.ok
}

/** `tracebook export`: writes a session as Markdown, HTML or JSON. Output and exit codes in its help. */
export const exportCommand = (): Command =>
  new Command('export')
    .argument('<externalId>', 'the session')
    .addOption(
      new Option('--format <format>', 'what to write (default: by the name of the file, else md)').choices(formats),
    )
    .option('-o, --output <file>', 'the file to write (default: standard output)')
    .option('--revision <revision>', 'as it was after this revision, for members of its namespace')
    .option('--at <time>', 'as it was at this time (ISO 8601 with a zone, or milliseconds since 1970)')
    .option('--namespace <slug>', 'the namespace that the session is in')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((externalId: string, options: Options) => {
      // Who reads what is printed has gone.
      process.stdout.once('error', () => process.exit(exitCodes.incomplete))
      return runCommand(() => exportTrace(externalId, options))
    })
