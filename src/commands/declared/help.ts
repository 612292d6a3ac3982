/** The environment variables of commands that talk to a server. */
const clientEnvironment = `Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and settings, instead of the platform's own`

/** The environment variables of commands that look for the sessions on this machine. */
export const sessionsEnvironment = `${clientEnvironment}
  TRACEBOOK_DATA_DIR    the folder for the record of what was uploaded; default: data in
                        TRACEBOOK_CONFIG_DIR, else the platform's own
  The variables by which agents find their own files are respected: CLAUDE_CONFIG_DIR, CODEX_HOME,
  COPILOT_HOME, GEMINI_CLI_HOME, PI_CODING_AGENT_DIR, PI_CODING_AGENT_SESSION_DIR, QWEN_HOME,
  QWEN_RUNTIME_DIR, OPENCODE_DB, XDG_DATA_HOME, XDG_CONFIG_HOME, APPDATA.`

/** The environment variables of commands that work on the log of a service. */
export const serviceEnvironment = `Environment:
  DATABASE_URL    the database of the service
  DATA_DIR        without DATABASE_URL: the folder of a running service (default: data)
  EVENTSTORE_URL  the log, if the service has it in EventStoreDB`

/** How a trace is named, for the help of all commands that take one. */
export const idHelp = `Name the trace by its id, by a prefix of its id that no other trace of the namespace has (at least
four characters), or by its link.`

/** The argument that names a trace. */
export const traceArgument = 'the trace: its id, a prefix of its id, or its link'

/** A command line that can be copied, and what it does. */
type Example = readonly [line: string, what?: string]

/** What `--help` shows after the options. */
export type Help = {
  /** What the command does, in lines of up to 100 columns. */
  readonly about: string
  readonly examples: readonly Example[]
  /** The documents on stdout with --json, one per line, with what they hold. */
  readonly documents: readonly Example[]
  /** Default: `clientEnvironment`. */
  readonly environment?: string
  /** What each exit code means; default: 0, 1 and 2 as all client commands have them. */
  readonly exitCodes?: Readonly<Record<number, string>>
}

const ERROR: Example = ['{"type":"error","message","exitCode"}', 'instead, when it failed']
const EXIT_CODES = {
  0: 'success',
  1: 'the server refused, or did not answer',
  2: 'wrong usage, not found, or not logged in',
}

/** Lines in two columns; the second may be missing. A line too long for the first column continues below. */
const inColumns = (rows: readonly Example[], mark: string, most: number): string => {
  const width = Math.max(0, ...rows.map(([first]) => first.length).filter((length) => length <= most)) + 2
  return rows
    .map(([first, second]) => {
      if (second === undefined) return `  ${first}`
      const gap = first.length > most ? `\n  ${' '.repeat(width)}` : ' '.repeat(width - first.length)
      return `  ${first}${gap}${mark}${second}`
    })
    .join('\n')
}

/** The text after the options in `--help`. */
export const helpText = ({ about, examples, documents, environment = clientEnvironment, exitCodes }: Help): string => `
${about.trim()}

Examples:
${inColumns(examples, '# ', 56)}

With --json, stdout holds one JSON document per line:
${inColumns([...documents, ERROR], '', 48)}

${environment}

Exit codes:
${inColumns(Object.entries(exitCodes ?? EXIT_CODES), '', 1)}`
