/** The environment variables of commands that talk to a server. */
export const environmentHelp = `Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and settings, instead of the platform's own`

/** A command line that can be copied, and what it does. */
type Example = readonly [line: string, what?: string]

/** What `--help` tells beside the options. */
export type Help = {
  /** What the command does, in lines of up to 100 columns. */
  readonly about: string
  readonly examples: readonly Example[]
  /** The documents on stdout with --json, one a line, with what they hold. */
  readonly documents: readonly Example[]
  /** Default: `environmentHelp`. */
  readonly environment?: string
  /** What the command does when it ends with a code; default: 0, 1 and 2 as every client command has them. */
  readonly exitCodes?: Readonly<Record<number, string>>
}

const ERROR: Example = ['{"type":"error","message","exitCode"}', 'instead, when it failed']
const EXIT_CODES = {
  0: 'all is well',
  1: 'the server refused, or did not answer',
  2: 'wrong usage, a name that nothing has, or not logged in',
}

/** Lines in two columns, the second of which may be missing. A line that is too long for the first one goes on below. */
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

/** What stands behind the options in `--help`. */
export const helpText = ({ about, examples, documents, environment = environmentHelp, exitCodes }: Help): string => `
${about.trim()}

Examples:
${inColumns(examples, '# ', 56)}

With --json, stdout holds one JSON document a line:
${inColumns([...documents, ERROR], '', 48)}

${environment}

Exit codes:
${inColumns(Object.entries(exitCodes ?? EXIT_CODES), '', 1)}`
